import { type ComponentChildren, Fragment } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { t } from '../text/words.ts';
import { isSecondClick } from './button.tsx';
import { moveCell, moveRow } from './move-row.ts';
import { type Shortcuts, useShortcuts } from './shortcuts.ts';
import { Tick, TickAll } from './tick.tsx';
import { leaving } from './unsaved.tsx';

/** A column: what it is called, and what stands in it. */
export interface Column<T> {
  readonly key: string;
  readonly label: ComponentChildren;
  readonly cell: (item: T) => ComponentChildren;
  readonly number?: true;
  /** In pixels; absent: as wide as its content. */
  readonly width?: number | undefined;
  readonly sorted?: 'ascending' | 'descending' | undefined;
}

/** Cells that are edited in place, by double click, Enter or F2. Arrow keys move between the cells. */
interface CellEditing {
  readonly can: (column: string) => boolean;
  readonly at: { readonly key: string; readonly column: string } | undefined;
  readonly onBegin: (key: string, column: string) => void;
  readonly editor: ComponentChildren;
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
  readonly editing?: CellEditing;
  /** Consecutive rows of one group have its name above them. */
  readonly group?: (item: T) => string;
  /** The first column stays in view. */
  readonly frozen?: boolean;
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

const widthOf = ({ width }: Pick<Column<unknown>, 'width'>) =>
  width === undefined ? undefined : { minWidth: `${width}px`, maxWidth: `${width}px`, width: `${width}px` };

const doubleClickMs = 250;

/** Fingers do not double click. */
const isTouch = (event: MouseEvent): boolean => (event as Partial<PointerEvent>).pointerType === 'touch';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input, select, textarea, [role="dialog"], dialog') !== null;

/** A list. Rows that open something do so by a click and, from their first link, by keyboard: `j`, `k`, then Enter. */
export const Table = <T,>({
  label,
  columns,
  items,
  keyOf,
  selected,
  onOpen,
  ticked,
  onTick,
  editing,
  group,
  frozen,
}: Props<T>) => {
  const box = useRef<HTMLElement>(null);
  const opens = onOpen !== undefined;
  const shortcuts = useMemo<Shortcuts>(
    () => (opens ? { next: () => moveRow(box.current, 1), before: () => moveRow(box.current, -1) } : {}),
    [opens],
  );
  useShortcuts(shortcuts);
  const shown = items?.slice(0, mostRows);
  const opening = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** A click on a cell that can be edited opens the row only when it is not the first of a double click. */
  const onRowClick = (event: MouseEvent, item: T): void => {
    if (!onOpen || isOwnAct(event.target)) return;
    clearTimeout(opening.current);
    const open = () => leaving(() => onOpen(item));
    if ((event.target as Element).closest('[data-edits]') === null || isTouch(event)) open();
    else if (!isSecondClick(event.detail)) opening.current = setTimeout(open, doubleClickMs);
  };
  /** The cell of the first click. The panel that it opens can move another cell below the second one. */
  const clicked = useRef('');
  const cellProps = (key: string, column: string) =>
    editing && {
      tabIndex: -1,
      'data-edits': editing.can(column) ? '' : undefined,
      onClick: ({ detail }: MouseEvent) => {
        if (!isSecondClick(detail)) clicked.current = `${key} ${column}`;
      },
      onDblClick: () => {
        clearTimeout(opening.current);
        if (editing.can(column) && clicked.current === `${key} ${column}`) editing.onBegin(key, column);
      },
      onKeyDown: (event: KeyboardEvent) => {
        if (isTyping(event.target)) return;
        const isLink = event.target instanceof Element && event.target.closest('a, button') !== null;
        if (editing.can(column) && (event.key === 'F2' || (event.key === 'Enter' && !isLink))) {
          event.preventDefault();
          editing.onBegin(key, column);
        } else moveCell(event);
      },
    };
  const kind = frozen ? 'table-box frozen' : 'table-box';
  const tick = onTick && { ticked: ticked ?? new Set<string>(), onTick };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section ref={box} class={kind} aria-label={label} aria-busy={items === undefined} tabIndex={0}>
      <table class="table" role={editing && 'grid'}>
        <caption hidden>{label}</caption>
        <thead>
          <tr>
            {tick && (
              <th scope="col" class="tick">
                <TickAll keys={shown?.map(keyOf) ?? []} {...tick} />
              </th>
            )}
            {columns.map((column) => (
              <th
                key={column.key}
                scope="col"
                class={column.number ? 'number' : undefined}
                style={widthOf(column)}
                aria-sort={column.sorted}
              >
                {column.label || <span class="spoken">{t.acts.menu}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown === undefined ? (
            <Waiting columns={columns.length + (tick ? 1 : 0)} />
          ) : (
            shown.map((item, place) => {
              const key = keyOf(item);
              const name = group?.(item);
              const before = shown[place - 1];
              return (
                <Fragment key={key}>
                  {name !== undefined && (before === undefined || group?.(before) !== name) && (
                    <tr class="group">
                      <th scope="rowgroup" colSpan={columns.length + (tick ? 1 : 0)}>
                        {name}
                      </th>
                    </tr>
                  )}
                  <tr aria-selected={selected === key} onClick={(event) => onRowClick(event, item)}>
                    {tick && (
                      <td class="tick">
                        <Tick keyed={key} {...tick} />
                      </td>
                    )}
                    {columns.map((column) => (
                      <td
                        key={column.key}
                        dir="auto"
                        class={column.number ? 'number' : undefined}
                        data-label={typeof column.label === 'string' ? column.label : undefined}
                        style={widthOf(column)}
                        {...cellProps(key, column.key)}
                      >
                        {editing?.at?.key === key && editing.at.column === column.key
                          ? editing.editor
                          : column.cell(item)}
                      </td>
                    ))}
                  </tr>
                </Fragment>
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
