import { useSignal } from '@preact/signals';
import { useRoute } from 'preact-iso/router';
import { request } from '../../api/request.ts';
import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Button } from '../../ui/button.tsx';
import { Bytes } from '../../ui/bytes.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { List } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import { SafeLink } from '../../ui/safe-link.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';

type File_ = Item<'list-files'>;

const isPicture = ({ contentType }: File_): boolean => /^image\/(?:png|jpeg|gif|webp|avif)$/.test(contentType);

/** What was uploaded. */
export const Files = () => {
  const { projectId = '' } = useRoute().params;
  const deleting = useSignal<File_ | undefined>(undefined);
  const columns: readonly Column<File_>[] = [
    {
      key: 'picture',
      label: '',
      cell: (file) => (file.url && isPicture(file) ? <img class="thumb" src={file.url} alt="" loading="lazy" /> : null),
    },
    { key: 'name', label: t.files.name, cell: ({ url, name }) => <SafeLink href={url}>{name}</SafeLink> },
    { key: 'path', label: t.files.path, cell: ({ path }) => <span class="mono">{path}</span> },
    { key: 'size', label: t.files.size, number: true, cell: ({ size }) => <Bytes of={size} /> },
    { key: 'type', label: t.files.type, cell: ({ contentType }) => contentType },
    { key: 'created', label: t.users.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      key: 'delete',
      label: '',
      cell: (file) => (
        <Button
          kind="plain"
          onClick={() => {
            deleting.value = file;
          }}
        >
          {t.acts.delete}
        </Button>
      ),
    },
  ];
  const file = deleting.value;
  const close = () => {
    deleting.value = undefined;
  };
  return (
    <Page title={t.nav.files}>
      <List
        row="list-files"
        input={{ projectId }}
        label={t.nav.files}
        columns={columns}
        keyOf={({ path }) => path}
        empty={t.files.empty}
      />
      {file && (
        <Confirm
          title={t.files.deleteTitle}
          text={t.files.deleteText}
          name={file.name}
          label={t.files.typeName}
          act={t.acts.delete}
          onClose={close}
          onConfirm={async () => {
            await request('delete-files', { projectId, body: { paths: [file.path] } });
            close();
            say(t.files.deleted);
          }}
        />
      )}
    </Page>
  );
};
