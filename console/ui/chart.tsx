interface Bar {
  readonly label: string;
  readonly value: number;
}

const height = 120;
const gap = 0.2;

/** Bars over their labels; each says its value to who points at it and to who listens. */
export const Chart = ({ label, bars }: { readonly label: string; readonly bars: readonly Bar[] }) => {
  const most = Math.max(1, ...bars.map(({ value }) => value));
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${Math.max(1, bars.length)} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${bars.map((bar) => `${bar.label} ${bar.value}`).join(', ')}`}
      >
        {bars.map((bar, place) => {
          const size = (bar.value / most) * (height - 4);
          return (
            <rect key={bar.label} x={place + gap / 2} y={height - size} width={1 - gap} height={size}>
              <title>{`${bar.label}: ${bar.value}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption class="small muted">{label}</figcaption>
    </figure>
  );
};

/** How much of what there is is used; without a limit a number alone. */
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
