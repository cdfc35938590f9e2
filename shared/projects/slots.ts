import { randomInt } from 'node:crypto';
import type { Document, OptionalUnlessRequiredId } from 'mongodb';
import type { Records } from '../clients/records.ts';
import type { AppError } from '../core/errors.ts';
import { unlessTaken } from '../core/until-written.ts';

/** How many of the smallest free slots a newcomer picks from: parallel newcomers then rarely meet on one. */
const choice = 16;

/**
 * A free slot, or `undefined` where `limit` (`null`: none) are held. A unique index on the slot keeps two callers from
 * having the same one. Only as many of the smallest slots are open as there are places, whatever slots of a larger plan
 * are held, so that parallel callers stay within the limit.
 */
export const freeSlot = (used: readonly number[], limit: number | null): number | undefined => {
  const places = limit === null ? choice : Math.min(choice, limit - used.length);
  if (places <= 0) return undefined;
  const taken = new Set(used);
  const free: number[] = [];
  for (let slot = 0; free.length < places; slot++) {
    if (!taken.has(slot)) free.push(slot);
  }
  return free[randomInt(free.length)];
};

/**
 * Stores a record in a slot that the `others` leave free, or throws what `full` says where none is; `null` where
 * another caller took it meanwhile.
 */
export const insertInSlot = async <R extends Document>(
  records: Records<R>,
  record: Omit<R, 'slot'>,
  others: readonly { readonly slot?: number }[],
  limit: number | null,
  full: () => AppError,
): Promise<R | null> => {
  const slot = freeSlot(
    others.flatMap((other) => other.slot ?? []),
    limit,
  );
  if (slot === undefined) throw full();
  const stored: Document = { ...record, slot };
  const inserted = records.insertOne(stored as OptionalUnlessRequiredId<R>);
  return (await unlessTaken(inserted, () => null)) && (stored as R);
};
