import { hash } from 'node:crypto';
import { clock, dayAt, dayMs } from '../core/clock.ts';
import type { Put } from '../persistence/dynamo.ts';
import { itemKey, type Key, type PartitionKey, partitionKey } from '../persistence/item-keys.ts';
import { get, list, transact, write } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';
import { type Backoff, delayAfter } from '../persistence/work-queue.ts';
import type { FileRef } from './file-items.ts';
import type { MultipartUpload } from './multipart.ts';
import { managedStorageId } from './storage-keys.ts';

const minute = 60_000;
const hour = 60 * minute;

/** A link to a file lives up to a week. */
export const longestLinkMs = 7 * dayMs;

/** How long after a state change its objects are checked: not before everything in progress has ended. */
const waitMs = {
  /** The URL ends after 10 minutes; a PUT that began before may last 5 minutes longer. */
  requested: 15 * minute,
  /** After that, what has arrived may be confirmed for so much longer. */
  arrived: 15 * minute,
  /** In a storage of the project's own an upload may come in parts, and is resumed for so long. */
  requestedExternal: 24 * hour,
  /** Not before the request has ended whose parts they are. */
  begun: 24 * hour,
  /** A presigned URL lasts 10 minutes; until then something may yet come to a place that was emptied. */
  deleted: 15 * minute,
  /** Longer than a run has a file for itself that makes it public or private. */
  moved: 15 * minute,
  /** Longer than any run makes a size of a picture, or removes those of one. */
  sized: 15 * minute,
  dropped: 15 * minute,
  /** A file that was made public is where its links lead until the last has ended. */
  opened: longestLinkMs + 15 * minute,
};

/** How long a reservation lasts if nothing arrives. */
export const reservationMs = (storageId: string): number =>
  waitMs[storageId === managedStorageId ? 'requested' : 'requestedExternal'];

/** Until when a URL to which an upload is sent may last: a PUT that begins then has 5 more minutes. */
export const uploadableUntil = (storageId: string, requestedAt: number): number =>
  requestedAt + reservationMs(storageId) - 5 * minute;

type Move = Exclude<keyof typeof waitMs, 'requestedExternal' | 'arrived'>;

/** How long an entry waits whose storage did not do what it was asked. */
const backoff: Backoff = { first: hour, times: 2, most: 24 * hour };

/** Partitions per day, among which entries are spread by their path. */
export const shards = 10;

/** Storages of projects' own have their own queue: those that do not answer keep nobody waiting whose files we keep. */
export type DueQueue = 'managed' | 'external';

const queueOf = ({ storageId }: FileRef): DueQueue => (storageId === managedStorageId ? 'managed' : 'external');

/** The partition of what is due on the day of `time` (UTC), spread over ten by the path. */
const duePartition = (queue: DueQueue, time: number, shard: number): PartitionKey<'due' | 'dueExternal'> =>
  partitionKey(queue === 'managed' ? 'due' : 'dueExternal', {
    day: dayAt(time).name.replaceAll('-', ''),
    shard: String(shard),
  });

/** Times in sort keys: as many digits for all of them. */
const dueOrder = (time: number): string => String(time).padStart(15, '0');

const shardOf = ({ filePath }: FileRef): number => (hash('sha256', filePath, 'buffer')[0] ?? 0) % shards;

/** A path that is to be looked at, and how often that has failed. */
interface Due extends FileRef {
  readonly move: string;
  /** Milliseconds since 1970; `first` is when it was due before anything failed. */
  readonly due: number;
  readonly first: number;
  readonly tries: number;
  /** Names of sizes of the file that may be left behind. */
  readonly sizes?: ReadonlySet<string> | undefined;
  /** An upload in parts, and where it was to lie, which is to be given up. */
  readonly uploadId?: string;
  readonly objectKey?: string;
}

const putDue = ({ move, ...item }: Due): Put => ({
  put: {
    ...itemKey(kinds.dueUpload, duePartition(queueOf(item), item.due, shardOf(item)), {
      time: dueOrder(item.due),
      move,
      filePath: item.filePath,
    }),
    ...item,
  },
});

/** Asks the sweep to look at a path later: part of the transaction that makes it necessary. */
export const putDueEntry = (
  { projectId, storageId, filePath }: FileRef,
  move: Move,
  left: { readonly upload?: MultipartUpload | undefined; readonly sizes?: ReadonlySet<string> | undefined } = {},
): Put => {
  const { upload } = left;
  // The table has no empty set.
  const sizes = left.sizes?.size ? left.sizes : undefined;
  const due = clock.now() + (move === 'requested' ? reservationMs(storageId) : waitMs[move]);
  const parts = upload && { uploadId: upload.uploadId, objectKey: upload.key };
  // Sizes that are charged at one moment have entries of their own.
  const unique = move === 'sized' ? `${move}.${[...(sizes ?? [])].join('.')}` : move;
  return putDue({ projectId, storageId, filePath, move: unique, due, first: due, tries: 0, sizes, ...parts });
};

export interface DueEntry extends Due {
  readonly key: Key;
}

type DueItem = Key & Omit<Due, 'move' | 'first' | 'tries'> & Partial<Pick<Due, 'first' | 'tries'>>;

const toDueEntry = ({ pk, sk, first, tries = 0, ...item }: DueItem): DueEntry => ({
  ...item,
  first: first ?? item.due,
  tries,
  move: sk.split('#')[1] ?? '',
  key: { pk, sk },
});

const pageSize = 25;

/** Time up to which everything due has been done, so that a run need not look at every past day. */
const doneKey = (queue: DueQueue): Key =>
  itemKey(kinds.sweptUntil, partitionKey('dueDone'), { queue: queue === 'managed' ? 'until' : `until#${queue}` });

/** How far back a run looks if that time is unknown or lies in the future, as after a wrong clock. */
const farBackMs = 100 * dayMs;

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
  for (let start = Math.floor((await doneUntil(queue, now)) / dayMs) * dayMs; start <= now; start += dayMs) {
    let partitions = Array.from({ length: shards }, (_, shard) => duePartition(queue, start, shard));
    while (partitions.length > 0) {
      const pages = await Promise.all(partitions.map((partition) => nextIn(partition, now)));
      yield pages.filter(({ length }) => length > 0);
      partitions = partitions.filter((_, index) => pages[index]?.length === pageSize);
    }
    await setDoneUntil(queue, Math.min(start + dayMs, now), now);
  }
}

/** Removes an entry that is done; may be repeated. */
export const removeDueEntry = ({ key }: DueEntry): Promise<unknown> => write({ delete: key });

/** Puts one off that failed, for an hour, then two, four … up to a day, unless another run has done or put it off. */
export const reschedule = async ({ key, ...entry }: DueEntry): Promise<void> => {
  const tries = entry.tries + 1;
  const later = putDue({ ...entry, due: clock.now() + delayAfter(backoff, tries), tries });
  await transact([{ delete: key, condition: 'attribute_exists(pk)' }, later]);
};

/** When a reservation of our storage ends whose upload has arrived. */
const confirmableUntil = ({ first }: DueEntry): number => first + waitMs.arrived;

/** Whether an entry is of a reservation that lasts longer if its upload has arrived. */
export const mayAwaitConfirmation = (entry: DueEntry): boolean =>
  entry.move === 'requested' && entry.storageId === managedStorageId && clock.now() < confirmableUntil(entry);

/** Puts off the end of such a reservation, unless another run has done it. */
export const awaitConfirmation = async ({ key, ...entry }: DueEntry): Promise<void> => {
  const due = confirmableUntil({ key, ...entry });
  const later = putDue({ ...entry, move: 'arrived', due, first: due });
  await transact([{ delete: key, condition: 'attribute_exists(pk)' }, later]);
};
