import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../api/query.ts';
import type { Input, Item, PageOf, ReadInput, RowId } from '../api/rows.ts';
import { t } from '../text/words.ts';
import { addressWith } from './address.ts';
import { Empty } from './empty.tsx';
import { pageOf, useSmallerPage } from './page-size.ts';
import { Pager } from './pager.tsx';
import { ProblemNote } from './problem-note.tsx';
import { type Column, Table } from './table.tsx';

interface Props<Id extends RowId> {
  readonly row: Id;
  /** Parameters of its path and query, except the page. */
  readonly input: ReadInput<Id>;
  readonly label: string;
  readonly columns: readonly Column<Item<Id>>[];
  readonly keyOf: (item: Item<Id>) => string;
  /** What would be here, and how to create it. */
  readonly empty: string;
  readonly emptyAct?: ComponentChildren;
  readonly selected?: string | undefined;
  readonly onOpen?: (item: Item<Id>) => void;
}

/** The page of a list that the address names. */
export const useListPage = <Id extends RowId>(row: Id, input: ReadInput<Id>) => {
  const { page, size } = pageOf(useLocation().query);
  const list = useQuery(row, { ...input, query: { ...input.query, page, limit: size } } as Input<Id>);
  return { page, size, list };
};

/** A list of the dashboard API, one page at a time. The page is in the address. */
export const List = <Id extends RowId>({
  row,
  input,
  label,
  columns,
  keyOf,
  empty,
  emptyAct,
  selected,
  onOpen,
}: Props<Id>) => {
  const { path, query, route } = useLocation();
  const { page, size, list } = useListPage(row, input);
  const { data, problem: refusal } = list.value;
  const problem = useSmallerPage(refusal) ? undefined : refusal;
  const shown = data as PageOf<Item<Id>> | undefined;
  if (problem && !shown) return <ProblemNote problem={problem} onRetry={list.reload} />;
  if (shown?.items.length === 0 && page === 1) return <Empty text={empty}>{emptyAct}</Empty>;
  const isBeyond = shown?.items.length === 0;
  return (
    <div class="stack">
      {problem && <ProblemNote problem={problem} onRetry={list.reload} />}
      {isBeyond ? (
        <Empty text={t.pager.beyond} />
      ) : (
        <Table
          label={label}
          columns={columns}
          items={shown?.items}
          keyOf={keyOf}
          selected={selected}
          {...(onOpen ? { onOpen } : {})}
        />
      )}
      {shown && (
        <div class="row small muted">
          <Pager
            page={page}
            size={size}
            shown={shown.items.length}
            total={shown.total}
            capped={false}
            onPage={(to) => route(addressWith(path, query, { page: to === 1 ? undefined : String(to) }))}
          />
        </div>
      )}
    </div>
  );
};
