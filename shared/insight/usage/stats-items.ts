import { itemKey, type Key, partitionKey } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';

/** `requests` has one attribute for each kind of request, `queries` two for each shape of slow list. */
const statsKinds = { requests: kinds.requests, queries: kinds.queries } as const;

export type StatsKind = keyof typeof statsKinds;

/** An item of statistics: apart from what else a project owns, because every function may add to them. */
export const statsKey = (kind: StatsKind, projectId: string, day: string): Key =>
  itemKey(statsKinds[kind], partitionKey('stats', { projectId }), { day });

/** How long statistics are kept, in days. */
const keptDays = 31;

/** The day of a time in ms, `yyyy-mm-dd` in UTC. */
export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** When statistics of a day are deleted, in seconds. */
export const expiryOf = (day: string): number => Date.parse(day) / 1000 + (keptDays + 1) * 24 * 3600;
