import type { ComponentChildren } from 'preact';
import { t } from '../text/words.ts';

/** A column: what it is called, and what stands in it. */
export interface Column<T> {
  readonly key: string;
  readonly label: ComponentChildren;
  readonly cell: (item: T) => ComponentChildren;
  readonly number?: true;
}

interface Props<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  /** Absent until they are known. */
  readonly items: readonly T[] | undefined;
  readonly keyOf: (item: T) => string;
  readonly selected?: string | undefined;
  readonly onOpen?: (item: T) => void;
}

/** More would make the page slow, and nobody reads them. */
const mostRows = 200;
const waitingRows = 8;

const Waiting = ({ columns }: { readonly columns: number }) =>
  Array.from({ length: waitingRows }, (_, row) => (
    <tr key={row} class="waiting">
      {Array.from({ length: columns }, (_, column) => (
        <td key={column}>
          <span />
        </td>
      ))}
    </tr>
  ));

/** A list. Rows that open something do so by a click and, from their first cell's link, by keyboard. */
export const Table = <T,>({ label, columns, items, keyOf, selected, onOpen }: Props<T>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
  <section class="table-box" aria-label={label} aria-busy={items === undefined} tabIndex={0}>
    <table class="table">
      <caption hidden>{label}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.key} scope="col" class={column.number ? 'number' : undefined}>
              {column.label || <span class="spoken">{t.acts.menu}</span>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items === undefined ? (
          <Waiting columns={columns.length} />
        ) : (
          items.slice(0, mostRows).map((item) => {
            const key = keyOf(item);
            return (
              <tr key={key} aria-selected={selected === key} onClick={onOpen && (() => onOpen(item))}>
                {columns.map((column) => (
                  <td key={column.key} class={column.number ? 'number' : undefined}>
                    {column.cell(item)}
                  </td>
                ))}
              </tr>
            );
          })
        )}
      </tbody>
    </table>
    {items === undefined && (
      <p class="muted" hidden>
        {t.loading}
      </p>
    )}
  </section>
);
