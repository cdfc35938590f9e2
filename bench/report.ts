import type { Outcome } from './compare.ts';
import type { LimitedDelivery } from './delivery.ts';
import type { Depth } from './depth.ts';
import type { Pair } from './pairs.ts';

const table = (rows: readonly (readonly string[])[]): string => {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(head), rule, ...rows.slice(1).map(line)].join('\n');
};

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const ratio = (value: number): string => value.toFixed(2);
const aim = (value: number | undefined): string => (value === undefined ? '' : ratio(value));
const latency = ({ p50, p95 }: { readonly p50: number; readonly p95: number }): string =>
  `${p50.toFixed(1)} / ${p95.toFixed(1)}`;

/** The comparison as a Markdown table. */
export const renderOutcomes = (outcomes: readonly Outcome[]): string =>
  table([
    [
      'operation',
      'bare/s',
      'Basalt/s',
      'ratio',
      'aim',
      'counting each',
      'aim',
      'in blocks',
      'p50 / p95 ms',
      'bare p50 / p95',
      'CPU µs',
      'bare CPU µs',
    ],
    ...outcomes.map((outcome) => [
      outcome.operation.name,
      whole(outcome.bare.perSecond),
      whole(outcome.basalt.perSecond),
      ratio(outcome.ratio),
      aim(outcome.operation.aim?.uncounted),
      ratio(outcome.countedRatio),
      aim(outcome.operation.aim?.counted),
      ratio(outcome.blocksRatio),
      latency(outcome.basalt),
      latency(outcome.bare),
      whole(outcome.basalt.cpuMicros),
      whole(outcome.bare.cpuMicros),
    ]),
  ]);

/** What size and depth cost, as a Markdown table; a ratio of 1 means nothing. */
export const renderDepth = (depth: Depth, small: number, large: number): string =>
  table([
    ['list of 20, with total', 'requests/s', 'beside it, requests/s', 'ratio'],
    [
      `${whole(small)} documents beside ${whole(large)}`,
      whole(depth.smallList),
      whole(depth.largeList),
      ratio(depth.largeRatio),
    ],
    ['cursor page 1 beside page 10,000', whole(depth.firstPage), whole(depth.deepPage), ratio(depth.deepRatio)],
  ]);

/** What is no request of the bare server's, as a Markdown table. */
export const renderPairs = (pairs: readonly Pair[]): string =>
  table([
    ['besides', 'Basalt/s', 'beside it', 'its/s', 'ratio'],
    ...pairs.map(({ name, besides, beside, basalt, ratio: share }) => [
      name,
      whole(basalt),
      besides,
      whole(beside),
      ratio(share),
    ]),
  ]);

/** How the provider's own limit was kept, as a sentence. */
export const renderLimited = ({ asked, reached, most }: LimitedDelivery): string =>
  `To a provider that takes ${asked} mails a second: ${reached.toFixed(1)} a second, at most ${most} in any second.`;
