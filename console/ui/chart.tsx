import { t } from '../text/words.ts';

export interface Point {
  readonly label: string;
  readonly value: number;
}

interface Bar extends Point {
  readonly href?: string;
  readonly present?: boolean;
}

const height = 120;
const gap = 0.2;

/** Bars. Each shows its value on hover, reads it aloud, and may be a link. */
export const Chart = ({ label, bars }: { readonly label: string; readonly bars: readonly Bar[] }) => {
  const most = Math.max(0, ...bars.map(({ value }) => value));
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${Math.max(1, bars.length)} ${height}`} preserveAspectRatio="none">
        <title>{label}</title>
        {bars.map(({ href, present, ...bar }, place) => {
          const text = `${bar.label}: ${bar.value}`;
          const size = Math.max(1, (bar.value / Math.max(1, most)) * (height - 4));
          const shape = (
            <>
              <title>{text}</title>
              <rect class="reach" x={place} y={0} width={1} height={height} />
              <rect
                class={present ? 'present' : undefined}
                x={place + gap / 2}
                y={height - size}
                width={1 - gap}
                height={size}
              />
            </>
          );
          return href === undefined ? (
            <g key={bar.label}>{shape}</g>
          ) : (
            <a key={bar.label} href={href} aria-label={text} aria-current={present ? 'true' : undefined}>
              {shape}
            </a>
          );
        })}
      </svg>
      <div class="ends small muted">
        <span>{bars[0]?.label}</span>
        <span>{bars.at(-1)?.label}</span>
      </div>
      <figcaption class="small">{t.usage.most(label, most)}</figcaption>
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
