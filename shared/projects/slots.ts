import { randomInt } from 'node:crypto';

/** How many of the smallest free slots a newcomer picks from: parallel newcomers then rarely meet on one. */
const choice = 16;

/**
 * A free slot below `limit` (`null`: no limit), or `undefined` where the limit is reached. A plan's limit is held by a
 * unique index on the slot, so two callers that pick the same one cannot both have it.
 */
export const freeSlot = (used: readonly number[], limit: number | null): number | undefined => {
  if (limit !== null && used.length >= limit) return undefined;
  const taken = new Set(used);
  const free: number[] = [];
  for (let slot = 0; free.length < choice && (limit === null || slot < limit); slot++) {
    if (!taken.has(slot)) free.push(slot);
  }
  return free[randomInt(Math.max(1, free.length))];
};
