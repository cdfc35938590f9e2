import { useLocation } from 'preact-iso/router';
import { useQuery } from '../../api/query.ts';
import type { Input, ReadInput } from '../../api/rows.ts';
import { t } from '../../text/words.ts';
import { addressWith } from '../../ui/address.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { hasMore, idOf, type ProviderRecord, recordsOf } from './provider.ts';
import { ProviderProblem } from './provider-problem.tsx';

type ListRow = 'list-project-audiences' | 'list-project-contacts' | 'list-project-broadcasts';

interface Props<Id extends ListRow> {
  readonly row: Id;
  readonly input: ReadInput<Id> & { readonly projectId: string };
  readonly label: string;
  readonly columns: readonly Column<ProviderRecord>[];
  readonly empty: string;
  /** The address parameter with the id after which the page begins. */
  readonly after: string;
  readonly selected?: string | undefined;
  readonly onOpen?: (id: string) => void;
}

const pageSize = 100;

/** A list of the project's own account with the mail provider, paged by id. */
export const ProviderList = <Id extends ListRow>({
  row,
  input,
  label,
  columns,
  empty,
  after,
  selected,
  onOpen,
}: Props<Id>) => {
  const { path, query } = useLocation();
  const from = query[after];
  const list = useQuery(row, { ...input, query: { limit: pageSize, after: from } } as Input<Id>);
  const { data, problem } = list.value;
  const records = data === undefined ? undefined : recordsOf(data);
  if (problem && !records)
    return <ProviderProblem projectId={input.projectId} problem={problem} onRetry={list.reload} />;
  if (records?.length === 0 && !from) return <Empty text={empty} />;
  const last = records?.at(-1);
  return (
    <div class="stack">
      <Table
        label={label}
        columns={columns}
        items={records}
        keyOf={idOf}
        selected={selected}
        {...(onOpen && { onOpen: (record: ProviderRecord) => onOpen(idOf(record)) })}
      />
      <div class="row">
        {from && <LinkButton href={addressWith(path, query, { [after]: undefined })}>{t.mail.first}</LinkButton>}
        {last && hasMore(data) && (
          <LinkButton href={addressWith(path, query, { [after]: idOf(last) })}>{t.mail.more}</LinkButton>
        )}
      </div>
    </div>
  );
};
