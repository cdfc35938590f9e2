import { get } from '../../table/item.ts';
import { type StatsKind, statsKey } from './stats-items.ts';

/** The counters of a day by their names; none where nothing was counted. */
export const loadStats = async (
  kind: StatsKind,
  projectId: string,
  day: string,
): Promise<ReadonlyMap<string, number>> => {
  const item = (await get(statsKey(kind, projectId, day))) ?? {};
  return new Map(Object.entries(item).flatMap(([name, value]) => (name.includes('|') ? [[name, Number(value)]] : [])));
};
