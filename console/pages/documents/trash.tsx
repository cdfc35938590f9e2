import { useSignal } from '@preact/signals';
import { useRoute } from 'preact-iso/router';
import { cutText } from '../../../shared/core/text.ts';
import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import type { Item } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { ConfirmedAct } from '../../ui/confirmed-act.tsx';
import { List, useListPage } from '../../ui/list.tsx';
import type { Column } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { Cell } from './cell.tsx';
import { CollectionPage } from './collection-page.tsx';
import { usualColumns, valueAt } from './columns.ts';
import { titleField } from './ref-preview.tsx';
import { enforcedFields } from './shown-fields.ts';

/** The document without the fields that have columns of their own. */
const contentOf = ({ _id, isDeleted, deletedAt, daysLeft, ...content }: Item<'list-trash'>) => content;

export const Trash = () => {
  const { projectId = '', collectionName = '' } = useRoute().params;
  const place = { projectId, collectionName };
  const emptying = useSignal(false);
  const { data } = useListPage('list-trash', place).list.value;
  const { data: collection } = useQuery('get-collection', place).value;
  const rules = collection ? enforcedFields(collection) : [];
  const title = titleField(rules) ?? usualColumns(rules, data?.items.map(contentOf))[0] ?? '_id';
  const columns: readonly Column<Item<'list-trash'>>[] = [
    ...(title === '_id'
      ? []
      : [{ key: 'title', label: title, cell: (item: Item<'list-trash'>) => <Cell value={valueAt(item, title)} /> }]),
    { key: 'id', label: '_id', cell: ({ _id }) => <span class="mono">{String(_id)}</span> },
    {
      key: 'document',
      label: t.documents.json,
      cell: (item) => <span class="mono">{cutText(JSON.stringify(contentOf(item)), 120)}</span>,
    },
    {
      key: 'deleted',
      label: t.trash.deleted,
      cell: ({ deletedAt }) => <Time at={deletedAt === null ? null : String(deletedAt)} />,
    },
    { key: 'left', label: t.trash.daysLeft, number: true, cell: ({ daysLeft }) => daysLeft ?? '–' },
    {
      key: 'acts',
      label: '',
      cell: ({ _id }) => (
        <>
          <Act
            kind="plain"
            onAct={async () => {
              await request('restore-project-document', { ...place, id: String(_id) });
              say(t.trash.restored);
            }}
          >
            {t.trash.restore}
          </Act>
          <ConfirmedAct
            kind="danger"
            act={t.trash.forever}
            text={t.trash.foreverText}
            name={String(_id)}
            onConfirm={async () => {
              await request('delete-trashed-document', { ...place, id: String(_id) });
            }}
          />
        </>
      ),
    },
  ];
  const acts = data && data.total > 0 && (
    <Button
      kind="danger"
      onClick={() => {
        emptying.value = true;
      }}
    >
      {t.trash.empty}
    </Button>
  );
  return (
    <CollectionPage part="trash" acts={acts}>
      <List
        row="list-trash"
        input={place}
        label={t.trash.title}
        columns={columns}
        keyOf={({ _id }) => String(_id)}
        empty={t.trash.none}
      />
      {emptying.value && (
        <Confirm
          title={t.trash.empty}
          text={t.trash.emptyText}
          name={collectionName}
          label={t.trash.typeName}
          act={t.trash.empty}
          onClose={() => {
            emptying.value = false;
          }}
          onConfirm={async () => {
            const { data } = await request('empty-trash', place);
            emptying.value = false;
            say(t.trash.emptied(data.removed, data.complete));
          }}
        />
      )}
    </CollectionPage>
  );
};
