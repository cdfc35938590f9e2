import { useRef } from 'preact/hooks';
import { rows } from '../../text/rows.ts';

interface Props {
  /** The width of the panel in percent of the page. */
  readonly share: number;
  readonly onShare: (share: number) => void;
}

const [minShare, maxShare, step] = [25, 75, 5];
const bounded = (share: number): number => Math.min(maxShare, Math.max(minShare, Math.round(share)));

const usualShare = 50;

/** The kept width of the panel, if it is valid. */
export const shareOf = (kept: unknown): number => (typeof kept === 'number' ? bounded(kept) : usualShare);

/** The line between a list and its panel, dragged or moved by arrow keys to another width. */
export const PanelHandle = ({ share, onShare }: Props) => {
  const line = useRef<HTMLDivElement>(null);
  const onPointerDown = (event: PointerEvent) => {
    const handle = line.current;
    const box = handle?.parentElement?.getBoundingClientRect();
    if (!handle || !box) return;
    event.preventDefault();
    handle.focus();
    handle.setPointerCapture(event.pointerId);
    const resize = ({ clientX }: PointerEvent) => onShare(bounded(((box.right - clientX) / box.width) * 100));
    handle.addEventListener('pointermove', resize);
    handle.addEventListener('lostpointercapture', () => handle.removeEventListener('pointermove', resize), {
      once: true,
    });
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator that moves is a control, which hr is not.
    <div
      ref={line}
      class="panel-handle"
      role="separator"
      aria-orientation="vertical"
      aria-label={rows.columns.panel}
      aria-valuenow={share}
      aria-valuemin={minShare}
      aria-valuemax={maxShare}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onDblClick={() => onShare(usualShare)}
      onKeyDown={(event) => {
        const by = event.key === 'ArrowLeft' ? step : event.key === 'ArrowRight' ? -step : 0;
        if (by === 0) return;
        event.preventDefault();
        onShare(bounded(share + by));
      }}
    />
  );
};
