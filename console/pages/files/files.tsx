import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import type { Item } from '../../api/rows.ts';
import { files } from '../../text/files.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { Bytes } from '../../ui/bytes.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { List, useListPage } from '../../ui/list.tsx';
import { Page } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { Switch } from '../../ui/switch.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { FilePanel } from './file-panel.tsx';
import { isPicture, thumb, useAddresses } from './links.ts';
import { OpenUploads } from './open-uploads.tsx';
import { UploadQueue } from './upload-queue.ts';
import { UploadZone } from './upload-zone.tsx';
import { Visibility } from './visibility.tsx';

type StoredFile = Item<'list-files'>;

const pathEnds = { start: 8, end: 28 } as const;

/** A path begins with the same project id in each row, so that its middle says the least. */
const shortPath = (path: string): string => {
  const all = Array.from(path);
  const { start, end } = pathEnds;
  return all.length <= start + end ? path : `${all.slice(0, start).join('')}…${all.slice(-end).join('')}`;
};

export const Files = () => {
  const { projectId = '' } = useRoute().params;
  const { path, query, route } = useLocation();
  const found = useQuery('get-project', { projectId });
  const { data: project, problem } = found.value;
  const queue = useMemo(() => new UploadQueue(projectId), [projectId]);
  const { list } = useListPage('list-files', { projectId });
  const arrived = queue.arrived.value;
  useEffect(() => {
    if (arrived > 0) list.reload();
  }, [arrived]);
  const deleting = useSignal(false);
  const isOwnBucket = project?.storage.external ?? false;
  const changes = project !== undefined && project.role !== 'viewer';
  const pictures = isOwnBucket ? [] : (list.value.data?.items.filter(isPicture) ?? []);
  const thumbOf = useAddresses(projectId, pictures, thumb);
  const addressOf = (open: string | undefined) => addressWith(path, query, { open });
  const columns: readonly Column<StoredFile>[] = [
    {
      key: 'picture',
      label: <span class="spoken">{files.picture}</span>,
      cell: (file) => {
        const address = pictures.includes(file) ? thumbOf(file) : undefined;
        return address === undefined ? null : <img class="thumb" src={address} alt="" loading="lazy" />;
      },
    },
    {
      key: 'name',
      label: files.name,
      cell: (file) => (
        <>
          <a href={addressOf(file.path)}>{file.name}</a> <Visibility file={file} />
        </>
      ),
    },
    { key: 'size', label: files.size, number: true, cell: ({ size }) => <Bytes of={size} /> },
    { key: 'type', label: files.type, cell: ({ contentType }) => contentType },
    { key: 'created', label: t.users.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      key: 'path',
      label: files.path,
      cell: (file) => (
        <span class="mono" title={file.path}>
          {shortPath(file.path)}
        </span>
      ),
    },
  ];
  const close = () => {
    deleting.value = false;
  };
  const file = list.value.data?.items.find(({ path: key }) => key === query.open);
  return (
    <Page title={t.nav.files}>
      <div class="stack">
        {problem && !project && !list.value.problem && <ProblemNote problem={problem} onRetry={found.reload} />}
        {isOwnBucket && <p class="note">{files.ownBucket}</p>}
        {changes && !isOwnBucket && <UploadZone queue={queue} />}
        {changes && (
          <Switch
            label={files.userUploads}
            hint={files.userUploadsWhy}
            on={project.uploads.users}
            onChange={async (users) => {
              await request('update-project', { projectId, body: { uploads: { users } } });
            }}
          />
        )}
        <div class={file ? 'halves' : undefined}>
          <List
            row="list-files"
            input={{ projectId }}
            label={t.nav.files}
            columns={columns}
            keyOf={({ path: key }) => key}
            empty={files.empty}
            icon="files"
            selected={query.open}
            onOpen={(item) => route(addressOf(item.path))}
          />
          {file && (
            <FilePanel
              key={file.path}
              projectId={projectId}
              file={file}
              shows={!isOwnBucket}
              changes={changes}
              onChange={() => list.reload()}
              onDelete={() => {
                deleting.value = true;
              }}
              onClose={() => route(addressOf(undefined))}
            />
          )}
        </div>
        <OpenUploads projectId={projectId} changes={changes} />
      </div>
      {file && deleting.value && (
        <Confirm
          title={files.deleteTitle}
          text={files.deleteText}
          name={file.name}
          label={files.typeName}
          act={t.acts.delete}
          onClose={close}
          onConfirm={async () => {
            await request('delete-files', { projectId, body: { paths: [file.path] } });
            close();
            route(addressOf(undefined));
            say(files.deleted);
          }}
        />
      )}
    </Page>
  );
};
