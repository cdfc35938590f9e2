import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { t } from '../text/words.ts';
import { moveRow } from './move-row.ts';
import { type Shortcuts, useShortcuts } from './shortcuts.ts';
import { Tick, TickAll } from './tick.tsx';
import { leaving } from './unsaved.tsx';

/** A column: what it is called, and what stands in it. */
export interface Column<T> {
  readonly key: string;
  readonly label: ComponentChildren;
  readonly cell: (item: T) => ComponentChildren;
  readonly number?: true;
  readonly sorted?: 'ascending' | 'descending' | undefined;
}

interface Props<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  /** Absent until they are known. */
  readonly items: readonly T[] | undefined;
  readonly keyOf: (item: T) => string;
  readonly selected?: string | undefined;
  readonly onOpen?: (item: T) => void;
  /** Keys of the rows that are ticked, where rows can be. */
  readonly ticked?: ReadonlySet<string>;
  readonly onTick?: (keys: ReadonlySet<string>) => void;
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

/** Links and fields in a row keep their own function; the row does nothing then, or while text is selected. */
const isOwnAct = (target: EventTarget | null): boolean =>
  (target instanceof Element && target.closest('a, button, input, label') !== null) || getSelection()?.type === 'Range';

/** A list. Rows that open something do so by a click and, from their first link, by keyboard: `j`, `k`, then Enter. */
export const Table = <T,>({ label, columns, items, keyOf, selected, onOpen, ticked, onTick }: Props<T>) => {
  const box = useRef<HTMLElement>(null);
  const opens = onOpen !== undefined;
  const shortcuts = useMemo<Shortcuts>(
    () => (opens ? { next: () => moveRow(box.current, 1), before: () => moveRow(box.current, -1) } : {}),
    [opens],
  );
  useShortcuts(shortcuts);
  const shown = items?.slice(0, mostRows);
  const tick = onTick && { ticked: ticked ?? new Set<string>(), onTick };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section ref={box} class="table-box" aria-label={label} aria-busy={items === undefined} tabIndex={0}>
      <table class="table">
        <caption hidden>{label}</caption>
        <thead>
          <tr>
            {tick && (
              <th scope="col" class="tick">
                <TickAll keys={shown?.map(keyOf) ?? []} {...tick} />
              </th>
            )}
            {columns.map((column) => (
              <th key={column.key} scope="col" class={column.number ? 'number' : undefined} aria-sort={column.sorted}>
                {column.label || <span class="spoken">{t.acts.menu}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown === undefined ? (
            <Waiting columns={columns.length + (tick ? 1 : 0)} />
          ) : (
            shown.map((item) => {
              const key = keyOf(item);
              return (
                <tr
                  key={key}
                  aria-selected={selected === key}
                  onClick={onOpen && (({ target }) => isOwnAct(target) || leaving(() => onOpen(item)))}
                >
                  {tick && (
                    <td class="tick">
                      <Tick keyed={key} {...tick} />
                    </td>
                  )}
                  {columns.map((column) => (
                    <td key={column.key} dir="auto" class={column.number ? 'number' : undefined}>
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
};
