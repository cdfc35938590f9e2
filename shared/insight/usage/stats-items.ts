import { dayMs } from '../../core/clock.ts';
import { get, write } from '../../table/item.ts';
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

/** The day that was asked for last, which is nearly always the one that is asked for. */
let known = { day: Number.NaN, text: '' };

/** The day of a time in ms, `yyyy-mm-dd` in UTC. */
export const dayOf = (time: number): string => {
  const day = Math.floor(time / dayMs);
  if (day !== known.day) known = { day, text: new Date(time).toISOString().slice(0, 10) };
  return known.text;
};

/** When statistics of a day are deleted, in seconds. */
const expiryOf = (day: string): number => Date.parse(day) / 1000 + (keptDays + 1) * 24 * 3600;

/** The counters of a day by their names; none where nothing was counted. */
export const loadStats = async (
  kind: StatsKind,
  projectId: string,
  day: string,
): Promise<ReadonlyMap<string, number>> => {
  const item = (await get(statsKey(kind, projectId, day))) ?? {};
  return new Map(Object.entries(item).flatMap(([name, value]) => (name.includes('|') ? [[name, Number(value)]] : [])));
};

/** Whose statistics; `day` is `yyyy-mm-dd` in UTC. */
export interface StatsPlace {
  readonly projectId: string;
  readonly day: string;
}

/** Adds to a day's counters in one write; with `ids`, only if the day had at most `most` shapes before. */
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
