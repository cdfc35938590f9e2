import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useQuery } from '../api/query.ts';
import type { Input, Item, PageOf, ReadInput, RowId } from '../api/rows.ts';
import { t } from '../text/words.ts';
import { Empty } from './empty.tsx';
import type { IconName } from './icon.tsx';
import { moveRow } from './move-row.ts';
import { pageOf, useSmallerPage } from './page-size.ts';
import { Pager } from './pager.tsx';
import { ProblemNote } from './problem-note.tsx';
import { type Shortcuts, useShortcuts } from './shortcuts.ts';
import { type Column, Table } from './table.tsx';
import { Waiting } from './waiting.tsx';

interface Props<Id extends RowId> {
  readonly row: Id;
  /** Parameters of its path and query, except the page. */
  readonly input: ReadInput<Id>;
  readonly label: string;
  readonly columns?: readonly Column<Item<Id>>[];
  /** Shows each item as a card instead of a row. */
  readonly card?: (item: Item<Id>) => ComponentChildren;
  readonly keyOf: (item: Item<Id>) => string;
  /** What would be here, and how to create it. */
  readonly empty: string;
  readonly emptyAct?: ComponentChildren;
  readonly icon?: IconName;
  /** Consecutive items of one group have its name above them. */
  readonly group?: (item: Item<Id>) => string;
  readonly selected?: string | undefined;
  readonly onOpen?: (item: Item<Id>) => void;
}

/** The page of a list that the address names. */
export const useListPage = <Id extends RowId>(row: Id, input: ReadInput<Id>) => {
  const { page, size } = pageOf(useLocation().query);
  const list = useQuery(row, { ...input, query: { ...input.query, page, limit: size } } as Input<Id>);
  return { page, list };
};

interface CardsProps<T> {
  readonly label: string;
  readonly items: readonly T[] | undefined;
  readonly keyOf: (item: T) => string;
  readonly card: (item: T) => ComponentChildren;
}

/** Items as cards. `j` and `k` move between them, as in a table. */
const Cards = <T,>({ label, items, keyOf, card }: CardsProps<T>) => {
  const list = useRef<HTMLUListElement>(null);
  const shortcuts = useMemo<Shortcuts>(
    () => ({ next: () => moveRow(list.current, 1), before: () => moveRow(list.current, -1) }),
    [],
  );
  useShortcuts(shortcuts);
  if (!items) return <Waiting of={{ loading: true }} />;
  return (
    <ul ref={list} class="cards" aria-label={label}>
      {items.map((item) => (
        <li key={keyOf(item)} class="stat">
          {card(item)}
        </li>
      ))}
    </ul>
  );
};

/** A list of the dashboard API, one page at a time. The page is in the address. */
export const List = <Id extends RowId>({
  row,
  input,
  label,
  columns = [],
  card,
  keyOf,
  empty,
  emptyAct,
  icon,
  group,
  selected,
  onOpen,
}: Props<Id>) => {
  const { page, list } = useListPage(row, input);
  const { data, problem: refusal } = list.value;
  const problem = useSmallerPage(refusal) ? undefined : refusal;
  const shown = data as PageOf<Item<Id>> | undefined;
  if (problem && !shown) return <ProblemNote problem={problem} onRetry={list.reload} />;
  if (shown?.items.length === 0 && page === 1)
    return (
      <Empty text={empty} {...(icon ? { icon } : {})}>
        {emptyAct}
      </Empty>
    );
  const isBeyond = shown?.items.length === 0;
  return (
    <div class="stack">
      {problem && <ProblemNote problem={problem} onRetry={list.reload} />}
      {isBeyond ? (
        <Empty text={t.pager.beyond} />
      ) : card ? (
        <Cards label={label} items={shown?.items} keyOf={keyOf} card={card} />
      ) : (
        <Table
          label={label}
          columns={columns}
          items={shown?.items}
          keyOf={keyOf}
          selected={selected}
          {...(group ? { group } : {})}
          {...(onOpen ? { onOpen } : {})}
        />
      )}
      {shown && (
        <div class="row small muted pager">
          <Pager shown={shown.items.length} total={shown.total} />
        </div>
      )}
    </div>
  );
};
