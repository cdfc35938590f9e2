import { numberText } from '../text/number.ts';
import { t } from '../text/words.ts';

export interface Point {
  readonly label: string;
  readonly value: number;
}

interface Bar extends Point {
  /** The errors among them, drawn inside the bar. */
  readonly errors?: number;
  readonly href?: string;
  readonly present?: boolean;
}

const height = 120;
const gap = 0.2;
/** More labels below the bars would touch. */
const maxLabels = 6;

const textOf = ({ label, value, errors }: Bar): string =>
  errors ? t.usage.withErrors(label, value, errors) : `${label}: ${numberText(value)}`;

const Shape = ({ bar, place, most }: { readonly bar: Bar; readonly place: number; readonly most: number }) => {
  const sizeOf = (value: number) => Math.max(1, (value / Math.max(1, most)) * (height - 4));
  const at = { x: place + gap / 2, width: 1 - gap };
  const [size, part] = [sizeOf(bar.value), bar.errors ? sizeOf(bar.errors) : 0];
  return (
    <>
      <title>{textOf(bar)}</title>
      <rect class="reach" x={place} y={0} width={1} height={height} />
      <rect {...at} class={bar.present ? 'present' : undefined} y={height - size} height={size} />
      {part > 0 && <rect {...at} class="errors" y={height - part} height={part} />}
    </>
  );
};

/** Bars. Each shows its value on hover, reads it aloud, and may be a link. */
export const Chart = ({
  label,
  bars,
  wide,
}: {
  readonly label: string;
  readonly bars: readonly Bar[];
  readonly wide?: true;
}) => {
  const most = Math.max(0, ...bars.map(({ value }) => value));
  const step = Math.ceil(bars.length / (wide ? maxLabels : maxLabels / 2));
  return (
    <figure class={wide ? 'chart wide' : 'chart'}>
      <figcaption class="small">
        {label}
        {bars.some(({ errors }) => errors !== undefined) && <span class="legend muted">{t.summary.errors}</span>}
      </figcaption>
      <div class="plot">
        <div class="axis small muted" aria-hidden="true">
          <span>{most > 0 && numberText(most)}</span>
          <span>0</span>
        </div>
        <svg viewBox={`0 0 ${Math.max(1, bars.length)} ${height}`} preserveAspectRatio="none">
          <title>{label}</title>
          {bars.map((bar, place) =>
            bar.href === undefined ? (
              <g key={bar.label}>
                <Shape bar={bar} place={place} most={most} />
              </g>
            ) : (
              <a
                key={bar.label}
                href={bar.href}
                aria-label={textOf(bar)}
                aria-current={bar.present ? 'true' : undefined}
              >
                <Shape bar={bar} place={place} most={most} />
              </a>
            ),
          )}
        </svg>
        <div class="ends small muted" style={{ gridTemplateColumns: `repeat(${bars.length}, minmax(0, 1fr))` }}>
          {bars.map(
            ({ label: text }, at) =>
              at % step === 0 && (
                <span key={text} style={{ gridColumn: at + 1 }}>
                  {text}
                </span>
              ),
          )}
        </div>
      </div>
    </figure>
  );
};

/** The used part of a limit; without a limit, a number only. */
export const Meter = ({
  label,
  used,
  limit,
  text,
}: {
  readonly label: string;
  readonly used: number;
  readonly limit: number | null;
  readonly text: (value: number) => string;
}) => (
  <div class="meter">
    <span class="muted small">{label}</span>
    <strong>{limit === null ? text(used) : `${text(used)} / ${text(limit)}`}</strong>
    {limit !== null && (
      <meter min={0} max={limit} high={limit * 0.9} low={limit * 0.75} optimum={0} value={used} aria-label={label} />
    )}
  </div>
);
