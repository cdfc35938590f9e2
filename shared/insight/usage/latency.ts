/** Latencies are counted in classes, each a quarter wider than the one before, from 1 ms to half a minute. */
const step = 1.25;
const classes = 48;

/** The class of a latency in ms, 0 to 47. */
export const classOf = (ms: number): number =>
  Math.min(classes - 1, Math.max(0, Math.ceil(Math.log(Math.max(ms, 1)) / Math.log(step))));

const boundOf = (index: number): number => step ** index;

/**
 * The latency in ms that `share` (0 to 1) of the counted requests were within, at most a quarter too high; `null` where
 * nothing was counted. `counts` is class → number.
 */
export const percentile = (counts: ReadonlyMap<number, number>, share: number): number | null => {
  const sorted = [...counts].sort(([a], [b]) => a - b);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  let seen = 0;
  for (const [index, count] of sorted) {
    seen += count;
    if (seen >= total * share) return Math.round(boundOf(index) * 10) / 10;
  }
  return null;
};
