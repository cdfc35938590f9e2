import { clock, dayMs } from '../../core/clock.ts';
import { percentile } from './latency.ts';
import { dayOf, loadStats } from './stats-items.ts';

/** Status → number of answers, and class of latency → the same. */
const newSums = () => ({ statuses: new Map<string, number>(), classes: new Map<number, number>() });

const raise = <K>(counts: Map<K, number>, key: K, by: number): void => {
  counts.set(key, (counts.get(key) ?? 0) + by);
};

/** What was counted of a project on a day, all together and by the route. */
const sumsOf = async (projectId: string, day: string) => {
  const all = newSums();
  const routes = new Map<string, typeof all>();
  for (const [name, count] of await loadStats('requests', projectId, day)) {
    const [route = '', status = '', index = ''] = name.split('|');
    const ofRoute = routes.get(route) ?? newSums();
    routes.set(route, ofRoute);
    for (const { statuses, classes } of [all, ofRoute]) {
      raise(statuses, status, count);
      raise(classes, Number(index), count);
    }
  }
  return { all, routes: [...routes] };
};

const total = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((sum, n) => sum + n, 0);

const byName = (counts: Iterable<readonly [string, number]>): Record<string, number> =>
  Object.fromEntries([...counts].sort(([a], [b]) => a.localeCompare(b)));

/**
 * What was asked of a project on a day (`yyyy-mm-dd`, UTC; today by default), the busiest route first, with latencies
 * in ms, at most a quarter too high. Counted in the functions and written every few seconds, so the last of it may be
 * missing.
 */
export const getRequestStats = async (projectId: string, day = dayOf(clock.now())) => {
  const { all, routes } = await sumsOf(projectId, day);
  const stats = routes.map(([route, { statuses, classes }]) => ({
    route,
    requests: total(statuses),
    statuses: byName(statuses),
    p50: percentile(classes, 0.5),
    p95: percentile(classes, 0.95),
  }));
  return { day, requests: total(all.statuses), routes: stats.sort((a, b) => b.requests - a.requests) };
};

/** The requests of one day among several: how many failed for the caller's fault or ours, and how long most took. */
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

/** The `count` days that end with `day`, oldest first; one read each. */
export const getRequestDays = (projectId: string, count: number, day = dayOf(clock.now())) => {
  const last = Date.parse(day);
  const days = Array.from({ length: count }, (_, at) => new Date(last - (count - 1 - at) * dayMs).toISOString());
  return Promise.all(days.map((time) => summaryOf(projectId, time.slice(0, 10))));
};
