import { clock } from '../../core/clock.ts';
import { percentile } from './latency.ts';
import { dayOf, loadStats } from './stats-items.ts';

/** Requests of one route on one day. Latencies are in ms, at most a quarter too high. */
export interface RouteStats {
  readonly route: string;
  readonly requests: number;
  /** Status → number of answers. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly p50: number | null;
  readonly p95: number | null;
}

/** The requests of a project on one day, in UTC. */
export interface DayStats {
  readonly day: string;
  readonly requests: number;
  readonly routes: readonly RouteStats[];
}

interface Sums {
  readonly statuses: Map<string, number>;
  readonly classes: Map<number, number>;
}

const raise = <K>(counts: Map<K, number>, key: K, by: number): void => {
  counts.set(key, (counts.get(key) ?? 0) + by);
};

const sumsOf = (counters: ReadonlyMap<string, number>): ReadonlyMap<string, Sums> => {
  const routes = new Map<string, Sums>();
  for (const [name, count] of counters) {
    const [route = '', status = '', index = ''] = name.split('|');
    const sums = routes.get(route) ?? { statuses: new Map(), classes: new Map() };
    raise(sums.statuses, status, count);
    raise(sums.classes, Number(index), count);
    routes.set(route, sums);
  }
  return routes;
};

/** The requests of one day among several: how many failed for the caller's fault or ours, and how long most took. */
export interface DaySummary {
  readonly day: string;
  readonly requests: number;
  /** Status → number of answers. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Route → number of requests. */
  readonly routes: Readonly<Record<string, number>>;
  readonly p95: number | null;
}

const total = (counts: ReadonlyMap<unknown, number>): number => [...counts.values()].reduce((sum, n) => sum + n, 0);

const byName = (counts: ReadonlyMap<string, number>): Readonly<Record<string, number>> =>
  Object.fromEntries([...counts].sort(([a], [b]) => a.localeCompare(b)));

/**
 * What was asked of a project on a day (`yyyy-mm-dd`, UTC; today by default), the busiest route first. Counted in the
 * functions and written every few seconds, so the last of it may be missing.
 */
export const getRequestStats = async (projectId: string, day = dayOf(clock.now())): Promise<DayStats> => {
  const routes = [...sumsOf(await loadStats('requests', projectId, day))].map(([route, { statuses, classes }]) => ({
    route,
    requests: total(statuses),
    statuses: byName(statuses),
    p50: percentile(classes, 0.5),
    p95: percentile(classes, 0.95),
  }));
  routes.sort((a, b) => b.requests - a.requests);
  return { day, requests: routes.reduce((sum, { requests }) => sum + requests, 0), routes };
};

const dayMs = 86_400_000;

const summaryOf = async (projectId: string, day: string): Promise<DaySummary> => {
  const [statuses, routes, classes] = [new Map<string, number>(), new Map<string, number>(), new Map<number, number>()];
  for (const [name, count] of await loadStats('requests', projectId, day)) {
    const [route = '', status = '', index = ''] = name.split('|');
    raise(routes, route, count);
    raise(statuses, status, count);
    raise(classes, Number(index), count);
  }
  return {
    day,
    requests: total(routes),
    statuses: byName(statuses),
    routes: byName(routes),
    p95: percentile(classes, 0.95),
  };
};

/** The `count` days that end with `day`, oldest first; one read each. */
export const getRequestDays = (
  projectId: string,
  count: number,
  day = dayOf(clock.now()),
): Promise<readonly DaySummary[]> => {
  const last = Date.parse(day);
  const days = Array.from({ length: count }, (_, at) => new Date(last - (count - 1 - at) * dayMs).toISOString());
  return Promise.all(days.map((time) => summaryOf(projectId, time.slice(0, 10))));
};
