import { useQuery } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import type { Data } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { Act } from '../../ui/act.tsx';
import { Empty } from '../../ui/empty.tsx';
import { ProblemNote } from '../../ui/problem-note.tsx';
import { type Column, Table } from '../../ui/table.tsx';

type Missing = Data<'list-missing-indexes'>[number];

/** Slow lists, each with the index that would help. */
export const MissingIndexes = ({ projectId }: { readonly projectId: string }) => {
  const found = useQuery('list-missing-indexes', { projectId });
  const { data, problem } = found.value;
  const columns: readonly Column<Missing>[] = [
    { key: 'collection', label: t.usage.collection, cell: ({ collection }) => collection },
    {
      key: 'list',
      label: t.usage.list,
      cell: ({ filters, sort }) => <span class="mono">{[...filters, ...sort].join(' ')}</span>,
    },
    { key: 'lists', label: t.usage.lists, number: true, cell: ({ lists }) => lists },
    { key: 'ms', label: t.usage.average, number: true, cell: ({ averageMs }) => averageMs },
    {
      key: 'build',
      label: '',
      cell: ({ collection, index }) => (
        <Act
          onAct={async () => {
            await request('create-index', { projectId, collectionName: collection, body: index });
          }}
        >
          {t.usage.build}
        </Act>
      ),
    },
  ];
  if (problem && !data) return <ProblemNote problem={problem} onRetry={found.reload} />;
  if (data?.length === 0) return <Empty text={t.usage.noMissing} />;
  return (
    <Table
      label={t.usage.missing}
      columns={columns}
      items={data}
      keyOf={({ collection, filters, sort }) => `${collection} ${filters} ${sort}`}
    />
  );
};
