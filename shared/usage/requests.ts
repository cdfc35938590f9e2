import { clock, dayMs } from '../core/clock.ts';
import { itemKey, type Key, partitionKey } from '../persistence/item-keys.ts';
import { get, write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';

/** Latency classes from 1 ms to 30 s, each 25 % wider than the previous one. */
const step = 1.25;
const classes = 48;

export const classOf = (ms: number): number =>
  Math.min(classes - 1, Math.max(0, Math.ceil(Math.log(Math.max(ms, 1)) / Math.log(step))));

const boundOf = (index: number): number => step ** index;

/**
 * The latency (ms) of quantile `share` (0 to 1), at most 25 % too high; `null` without requests. `counts`: class →
 * number.
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

/** `requests`: one attribute per kind of request. `queries`: two per shape of slow list. */
const statsKinds = { requests: kinds.requests, queries: kinds.queries } as const;

export type StatsKind = keyof typeof statsKinds;

/** Separate from the project's other items, because every function may write them. */
export const statsKey = (kind: StatsKind, projectId: string, day: string): Key =>
  itemKey(statsKinds[kind], partitionKey('stats', { projectId }), { day });

/** Days. */
const keptDays = 31;

/** Caches the last day, which is nearly always the next one requested. */
let known = { day: Number.NaN, text: '' };

/** `yyyy-mm-dd` in UTC, of a time in ms. */
export const dayOf = (time: number): string => {
  const day = Math.floor(time / dayMs);
  if (day !== known.day) known = { day, text: new Date(time).toISOString().slice(0, 10) };
  return known.text;
};

/** In seconds. */
const expiryOf = (day: string): number => Date.parse(day) / 1000 + (keptDays + 1) * 24 * 3600;

export const loadStats = async (
  kind: StatsKind,
  projectId: string,
  day: string,
): Promise<ReadonlyMap<string, number>> => {
  const item = (await get(statsKey(kind, projectId, day))) ?? {};
  return new Map(Object.entries(item).flatMap(([name, value]) => (name.includes('|') ? [[name, Number(value)]] : [])));
};

export interface StatsPlace {
  readonly projectId: string;
  readonly day: string;
}

/** Adds to counters in one write; with `ids`, only if the day had at most `most` shapes before. */
export const addStats = (
  kind: StatsKind,
  { projectId, day }: StatsPlace,
  counts: readonly (readonly [name: string, count: number])[],
  shapes?: { readonly ids: ReadonlySet<string>; readonly most: number | undefined },
) =>
  write({
    update: statsKey(kind, projectId, day),
    change: `SET expiresAt = :end ADD ${shapes ? 'shapes :shapes, ' : ''}${counts.map((_, at) => `#a${at} :v${at}`).join(', ')}`,
    ...(shapes?.most !== undefined && { condition: 'attribute_not_exists(shapes) OR size(shapes) <= :room' }),
    names: Object.fromEntries(counts.map(([name], at) => [`a${at}`, name])),
    values: {
      end: expiryOf(day),
      ...(shapes && { shapes: shapes.ids }),
      ...(shapes?.most !== undefined && { room: shapes.most }),
      ...Object.fromEntries(counts.map(([, count], at) => [`v${at}`, count])),
    },
  });

/** The counter of an hour (0 to 23) and status. No route has an empty name. */
export const hourCounter = (hour: number, status: number): string => `|${status}|${hour}`;

const newSums = () => ({ statuses: new Map<string, number>(), classes: new Map<number, number>() });

const raise = <K>(counts: Map<K, number>, key: K, by: number): void => {
  counts.set(key, (counts.get(key) ?? 0) + by);
};

const sumsOf = async (projectId: string, day: string) => {
  const all = newSums();
  const routes = new Map<string, typeof all>();
  const hours = Array.from({ length: 24 }, () => new Map<string, number>());
  for (const [name, count] of await loadStats('requests', projectId, day)) {
    const [route = '', status = '', index = ''] = name.split('|');
    if (route === '') {
      hours[Number(index)]?.set(status, count);
      continue;
    }
    const ofRoute = routes.get(route) ?? newSums();
    routes.set(route, ofRoute);
    for (const { statuses, classes } of [all, ofRoute]) {
      raise(statuses, status, count);
      raise(classes, Number(index), count);
    }
  }
  return { all, routes: [...routes], hours };
};

const total = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, n) => sum + n, 0);

const byName = (counts: Iterable<readonly [string, number]>): Record<string, number> =>
  Object.fromEntries([...counts].sort(([a], [b]) => a.localeCompare(b)));

/**
 * Returns one day's requests, busiest route first, and if asked for, its 24 hours in UTC; latencies in ms, at most 25 %
 * too high. Functions write counts every few seconds, so the latest may be missing.
 */
export const getRequestStats = async (projectId: string, day = dayOf(clock.now()), withHours = false) => {
  const { all, routes, hours } = await sumsOf(projectId, day);
  const stats = routes.map(([route, { statuses, classes }]) => ({
    route,
    requests: total(statuses),
    statuses: byName(statuses),
    p50: percentile(classes, 0.5),
    p95: percentile(classes, 0.95),
  }));
  return {
    day,
    requests: total(all.statuses),
    routes: stats.sort((a, b) => b.requests - a.requests),
    ...(withHours && {
      hours: hours.map((statuses, hour) => ({ hour, requests: total(statuses), statuses: byName(statuses) })),
    }),
  };
};

const summaryOf = async (projectId: string, day: string) => {
  const { all, routes } = await sumsOf(projectId, day);
  return {
    day,
    requests: total(all.statuses),
    statuses: byName(all.statuses),
    routes: byName(routes.map(([route, { statuses }]) => [route, total(statuses)])),
    p95: percentile(all.classes, 0.95),
  };
};

/** Returns `count` days that end with `day`, oldest first; one read each. */
export const getRequestDays = (projectId: string, count: number, day = dayOf(clock.now())) => {
  const last = Date.parse(day);
  const days = Array.from({ length: count }, (_, at) => new Date(last - (count - 1 - at) * dayMs).toISOString());
  return Promise.all(days.map((time) => summaryOf(projectId, time.slice(0, 10))));
};
