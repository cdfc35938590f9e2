import type { Outcome } from './compare.ts';
import type { LimitedDelivery } from './delivery.ts';
import type { Depth } from './depth.ts';
import type { Cpu } from './load.ts';
import { type Neighbour, neighbourAim } from './neighbours.ts';
import { type Peer, peers } from './operation.ts';
import type { Pair } from './pairs.ts';

/** A Markdown table; the first row is the head. All columns except the first are right-aligned, unless `textual`. */
export const table = (rows: readonly (readonly string[])[], textual = false): string => {
  const [head = []] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const toLeft = (column: number): boolean => textual || column === 0;
  const pad = (cell: string, column: number): string =>
    toLeft(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const line = (row: readonly string[]): string => `| ${row.map(pad).join(' | ')} |`;
  const rule = widths.map((width, column) => (toLeft(column) ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`));
  return [line(head), `|${rule.join('|')}|`, ...rows.slice(1).map(line)].join('\n');
};

const whole = (value: number): string => Math.round(value).toLocaleString('en-US');
const ratio = (value: number): string => value.toFixed(2);
const latency = ({ p50, p95 }: { readonly p50: number; readonly p95: number }): string =>
  `${p50.toFixed(1)} / ${p95.toFixed(1)}`;

const share = (value: number | undefined): string => (value === undefined ? '' : ratio(value));

const micros = (value: number | undefined): string => (value === undefined ? '' : whole(value));

const parts = ({ server, engine }: Cpu): string =>
  [server, engine].flatMap((part) => (part === undefined ? [] : [whole(part)])).join(' + ');

const aboutCpu = `Times are in µs. *process*, *engine* and *both* are ratios to the bare server of the same round.
*counting each* has one more durable write for each request (the default limit of 100).
*emulators* is the CPU of the local DynamoDB, SQS and S3, which is not part of the ratios. *client* is the CPU of the load generator.`;

/** CPU per request compared with the bare server, in µs. */
export const renderCpu = (outcomes: readonly Outcome[]): string => `${cpuTable(outcomes)}\n\n${aboutCpu}`;

const cpuTable = (outcomes: readonly Outcome[]): string =>
  table([
    [
      'CPU of a request',
      'bare, process + engine µs',
      'Basalt, process + engine µs',
      'process',
      'engine',
      'both',
      'aim',
      'both, counting each',
      'emulators µs',
      'counting each',
      'client µs',
    ],
    ...outcomes.map(({ operation: { name, aim }, samples: { bare, basalt, counted }, cpuToBare }) => [
      name,
      parts(bare.cpu),
      parts(basalt.cpu),
      share(cpuToBare.server.basalt),
      share(cpuToBare.engine.basalt),
      share(cpuToBare.both.basalt),
      share(aim?.cpu),
      share(cpuToBare.both.counted),
      micros(basalt.cpu.emulators),
      micros(counted?.cpu.emulators),
      micros(basalt.cpu.client),
    ]),
  ]);

const aboutSpeed = `*in blocks* has a raised limit of 100 000. Client, engine and servers share the machine, so ratios fall if the client needs more CPU.
*JavaScript* clients send requests that depend on earlier responses or are single-use: tokens, uploads and passwords.`;

/** Requests per second compared with the bare server. */
export const renderSpeed = (outcomes: readonly Outcome[]): string => `${speedTable(outcomes)}\n\n${aboutSpeed}`;

const speedTable = (outcomes: readonly Outcome[]): string =>
  table([
    [
      'requests per second',
      'bare',
      'Basalt',
      'ratio',
      'aim',
      'counting each',
      'aim',
      'in blocks',
      'p50 / p95 ms',
      'bare p50 / p95',
      'client',
    ],
    ...outcomes.map(({ operation: { name, aim }, samples: { bare, basalt }, toBare }) => [
      name,
      whole(bare.perSecond),
      whole(basalt.perSecond),
      share(toBare.basalt),
      share(aim?.speed),
      share(toBare.counted),
      share(aim?.counted),
      share(toBare.blocks),
      latency(basalt),
      latency(bare),
      basalt.client,
    ]),
  ]);

/** The summary of bench/results.md, with medians of the ratios per round. */
export const renderSummary = (outcomes: readonly Outcome[]): string =>
  table([
    [
      'Operation',
      'Requests/s',
      'p50 / p95, ms',
      'CPU ÷ bare',
      'Speed ÷ bare',
      ...peers.map((peer) => `÷ ${peerNames[peer]}`),
    ],
    ...outcomes.map(({ operation: { name }, samples: { basalt }, cpuToBare, toBare, toPeers }) => [
      name,
      whole(basalt.perSecond),
      latency(basalt),
      share(cpuToBare.both.basalt),
      share(toBare.basalt),
      ...peers.map((peer) => share(toPeers[peer].basalt)),
    ]),
  ]);

const times = (value: number | undefined): string => (value === undefined ? '' : `${ratio(value)} ×`);

const peerNames: Readonly<Record<Peer, string>> = { parse: 'Parse Server', pocketbase: 'PocketBase' };

/** Requests per second and CPU compared with other products; empty without any. */
export const renderPeers = (outcomes: readonly Outcome[]): string[] => {
  const there = peers.filter((peer) => outcomes.some(({ samples }) => samples[peer]));
  const rows = outcomes.filter(({ samples }) => there.some((peer) => samples[peer]));
  if (rows.length === 0) return [];
  const compared = table([
    [
      'beside the peers',
      'Basalt/s',
      ...there.flatMap((peer) => [
        `${peerNames[peer]}/s`,
        'Basalt',
        ...(peer === 'parse' ? ['aim'] : []),
        'counting each',
        'bare',
      ]),
      'Basalt CPU µs',
      ...there.map((peer) => `${peerNames[peer]} CPU µs`),
      'Basalt p50 / p95 ms',
      ...there.map((peer) => `${peerNames[peer]} p50 / p95`),
    ],
    ...rows.map(({ operation: { name, aim }, samples, toPeers }) => [
      name,
      whole(samples.basalt.perSecond),
      ...there.flatMap((peer) => {
        const sample = samples[peer];
        return [
          sample ? whole(sample.perSecond) : '',
          times(toPeers[peer].basalt),
          ...(peer === 'parse' ? [times(aim?.parse)] : []),
          times(toPeers[peer].counted),
          times(toPeers[peer].bare),
        ];
      }),
      parts(samples.basalt.cpu),
      ...there.map((peer) => (samples[peer] ? parts(samples[peer].cpu) : '')),
      latency(samples.basalt),
      ...there.map((peer) => (samples[peer] ? latency(samples[peer]) : '')),
    ]),
  ]);
  return [compared];
};

/** The cost of size and depth; a ratio of 1 means no cost. */
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
    [
      `20 changes of ${whole(small)} documents beside ${whole(large)}`,
      whole(depth.smallFeed),
      whole(depth.largeFeed),
      ratio(depth.feedRatio),
    ],
  ]);

/** Work outside of requests. */
export const renderPairs = (pairs: readonly Pair[]): string =>
  table([
    ['pair', 'Basalt/s', 'beside it', 'its/s', 'ratio'],
    ...pairs.map(({ name, besides, beside, basalt, ratio: part }) => [
      name,
      whole(basalt),
      besides,
      whole(beside),
      ratio(part),
    ]),
  ]);

/** The effect of a neighbour's work on a quiet project, p95 in ms. */
export const renderNeighbours = (neighbours: readonly Neighbour[]): string =>
  table([
    [
      "beside a neighbour's",
      'request',
      'quiet p95 ms',
      'done/s',
      'refused/s',
      'beside it',
      'ratio',
      'done/s, yielding',
      'refused/s',
      'beside it',
      'ratio',
      'aim',
    ],
    ...neighbours.map(({ noise, row, quiet, beside, besideEngine }) => [
      noise,
      row,
      quiet.toFixed(1),
      ...[beside, besideEngine].flatMap(({ p95, ratio: part, noisePerSecond: { done, refused } }) => [
        done.toFixed(1),
        refused.toFixed(1),
        p95.toFixed(1),
        ratio(part),
      ]),
      ratio(neighbourAim),
    ]),
  ]);

/** The factor of a quiet project's p95 for each kind of work, if only the database is shared. */
export const renderNeighbourSummary = (neighbours: readonly Neighbour[]): string => {
  const kinds = [...new Set(neighbours.map(({ row }) => row))];
  return table([
    ["Neighbour's work", ...kinds],
    ...[...Map.groupBy(neighbours, ({ noise }) => noise)].map(([noise, ofNoise]) => [
      noise,
      ...kinds.map((kind) => share(ofNoise.find(({ row }) => row === kind)?.besideEngine.ratio)),
    ]),
  ]);
};

/** The provider's limit and the reached rate, as a sentence. */
export const renderLimited = ({ asked, reached, most }: LimitedDelivery): string =>
  `A provider that accepts ${asked} emails/s got ${reached.toFixed(1)}/s, and at most ${most} in any second.`;
