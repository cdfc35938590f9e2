import { useRef } from 'preact/hooks';
import { rows } from '../../text/rows.ts';

interface Props {
  readonly field: string;
  readonly sort: string | undefined;
  readonly onSort: (sort: string | undefined) => void;
  /** Puts the first column before or after the second. */
  readonly onMove: (column: string, to: string) => void;
  /** The column at its left or right, if any. */
  readonly beside: { readonly ArrowLeft: string | undefined; readonly ArrowRight: string | undefined };
  /** `undefined`: as wide as the browser makes it. */
  readonly onWidth: (width: number | undefined) => void;
}

const step = 16;

/** The column that is dragged. */
let dragged: string | undefined;

/**
 * A column header. The first click sorts, the second reverses, the third resets. It is dragged to another place and by
 * its edge to another width; Alt and Shift with an arrow key do the same.
 */
export const SortHead = ({ field, sort, onSort, onMove, beside, onWidth }: Props) => {
  const button = useRef<HTMLButtonElement>(null);
  const next = sort === field ? `-${field}` : sort === `-${field}` ? undefined : field;
  const widthNow = (): number => button.current?.closest('th')?.offsetWidth ?? 0;
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, altKey, shiftKey, ctrlKey, metaKey } = event;
    if ((key !== 'ArrowLeft' && key !== 'ArrowRight') || altKey === shiftKey || ctrlKey || metaKey) return;
    // Alt with an arrow would leave the page.
    event.preventDefault();
    if (shiftKey) onWidth(widthNow() + (key === 'ArrowLeft' ? -step : step));
    else if (beside[key] !== undefined) {
      onMove(field, beside[key]);
      requestAnimationFrame(() => button.current?.focus());
    }
  };
  const onResize = (event: PointerEvent) => {
    const handle = event.currentTarget as HTMLElement;
    const [from, width] = [event.clientX, widthNow()];
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    const resize = ({ clientX }: PointerEvent) => onWidth(width + clientX - from);
    handle.addEventListener('pointermove', resize);
    handle.addEventListener('lostpointercapture', () => handle.removeEventListener('pointermove', resize), {
      once: true,
    });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same by keyboard.
    <span
      class="head"
      onDragOver={(event) => {
        if (dragged !== undefined) event.preventDefault();
      }}
      onDrop={(event) => {
        event.preventDefault();
        if (dragged !== undefined && dragged !== field) onMove(dragged, field);
      }}
    >
      <button
        ref={button}
        type="button"
        class="sort"
        draggable
        title={rows.columns.head}
        aria-keyshortcuts="Alt+ArrowLeft Alt+ArrowRight Shift+ArrowLeft Shift+ArrowRight"
        onClick={() => onSort(next)}
        onKeyDown={onKeyDown}
        onDragStart={(event) => {
          dragged = field;
          event.dataTransfer?.setData('text/plain', field);
        }}
        onDragEnd={() => {
          dragged = undefined;
        }}
      >
        {field} {sort === field ? '▴' : sort === `-${field}` ? '▾' : ''}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button before it does the same by keyboard. */}
      <span class="resize" onPointerDown={onResize} onDblClick={() => onWidth(undefined)} />
    </span>
  );
};
