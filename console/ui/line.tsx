import type { Point } from './chart.tsx';

const height = 32;

/** A number over several days, as a line without axes. Screen readers get its first and last value. */
export const Line = ({ label, points }: { readonly label: string; readonly points: readonly Point[] }) => {
  const most = Math.max(1, ...points.map(({ value }) => value));
  const last = Math.max(1, points.length - 1);
  const at = ({ value }: Point, place: number) => `${place},${height - 1 - (value / most) * (height - 2)}`;
  const line = points.map(at).join(' ');
  const spoken = points.filter(({ value }) => value > 0).map((point) => `${point.label} ${point.value}`);
  return (
    <svg
      class="line-chart"
      viewBox={`0 0 ${last} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: ${spoken.join(', ') || 0}`}
    >
      <polygon points={`0,${height} ${line} ${last},${height}`} />
      <polyline points={line} vector-effect="non-scaling-stroke" />
    </svg>
  );
};
