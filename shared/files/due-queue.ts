import { get, list, write } from '../table/item.ts';
import { itemKey, type Key, partitionKey } from '../table/item-key.ts';
import * as kinds from '../table/keys.ts';
import { transact } from '../table/transact.ts';
import {
  type DueEntry,
  type DueItem,
  type DueQueue,
  dueOrder,
  duePartition,
  moveDueEntry,
  shards,
  toDueEntry,
} from './due-entries.ts';

const day = 24 * 60 * 60 * 1000;
const pageSize = 25;

/** Time up to which everything due has been done, so that a run need not look at every past day. */
const doneKey = (queue: DueQueue): Key =>
  itemKey(kinds.sweptUntil, partitionKey('dueDone'), { queue: queue === 'managed' ? 'until' : `until#${queue}` });

/** How far back a run looks if that time is unknown or lies in the future, as after a wrong clock. */
const farBackMs = 100 * day;

/** Milliseconds since 1970 before which nothing due is left. */
const doneUntil = async (queue: DueQueue, now: number): Promise<number> => {
  const { until = Number.NaN } = (await get<{ readonly until?: number }>(doneKey(queue))) ?? {};
  return until <= now ? until : now - farBackMs;
};

/** Moves that time on to `time`, never back, except from one that the run that began at `now` finds in the future. */
const setDoneUntil = async (queue: DueQueue, time: number, now: number): Promise<void> => {
  await write({
    update: doneKey(queue),
    change: 'SET #until = :time',
    condition: 'attribute_not_exists(#until) OR #until < :time OR #until > :now',
    values: { time, now },
  });
};

/** What is due by `now` in one partition, the longest overdue first. */
const nextIn = async (partition: string, now: number): Promise<readonly DueEntry[]> =>
  (await list<DueItem>({ partition, only: { before: dueOrder(now + 1) }, most: pageSize })).map(toDueEntry);

/**
 * What is due by `now`, day by day, the oldest first: up to 25 entries of each of the day's partitions at a time, and
 * then what is left. Whoever takes them removes or puts off every one; what is done need not be looked at again.
 */
export async function* dueUploads(queue: DueQueue, now: number): AsyncGenerator<(readonly DueEntry[])[], void, void> {
  for (let start = Math.floor((await doneUntil(queue, now)) / day) * day; start <= now; start += day) {
    let partitions = Array.from({ length: shards }, (_, shard) => duePartition(queue, start, shard));
    while (partitions.length > 0) {
      const pages = await Promise.all(partitions.map((partition) => nextIn(partition, now)));
      yield pages.filter(({ length }) => length > 0);
      partitions = partitions.filter((_, index) => pages[index]?.length === pageSize);
    }
    await setDoneUntil(queue, Math.min(start + day, now), now);
  }
}

/** Removes an entry that is done; may be repeated. */
export const removeDueEntry = ({ key }: DueEntry): Promise<unknown> => write({ delete: key });

/** Puts one off, unless another run has done or put off the same. */
export const putOff = async (entry: DueEntry): Promise<void> => {
  await transact(moveDueEntry(entry));
};
