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

/** Links to files are valid for up to a week. */
export const maxLinkMs = 7 * dayMs;

/** When objects are checked after a state change: not before every request in progress has ended. */
const waitMs = {
  /** The URL expires after 10 minutes; a PUT in progress may take 5 more. */
  requested: 15 * minute,
  /** Extra time for the confirmation of an upload that has arrived. */
  arrived: 15 * minute,
  /** Uploads in parts can be resumed for this long. */
  requestedExternal: 24 * hour,
  /** The parts belong to a request that lasts that long. */
  begun: 24 * hour,
  /** Presigned URLs last 10 minutes; a PUT may arrive until then. */
  deleted: 15 * minute,
  /** Longer than a change of visibility holds the file. */
  moved: 15 * minute,
  /** Longer than any run makes or removes an image variant. */
  sized: 15 * minute,
  dropped: 15 * minute,
  /** Links to the private place stay valid until they expire. */
  opened: maxLinkMs + 15 * minute,
};

/** How long a reservation lasts if nothing arrives. */
export const reservationMs = (storageId: string): number =>
  waitMs[storageId === managedStorageId ? 'requested' : 'requestedExternal'];

/** Until when a URL to which an upload is sent may last: a PUT that begins then has 5 more minutes. */
export const uploadableUntil = (storageId: string, requestedAt: number): number =>
  requestedAt + reservationMs(storageId) - 5 * minute;

type Move = Exclude<keyof typeof waitMs, 'requestedExternal' | 'arrived'>;

/** Backoff if the storage fails. */
const backoff: Backoff = { first: hour, times: 2, most: 24 * hour };

/** Partitions per day. */
export const shards = 10;

/** Customers' storages have their own queue, so that those that do not respond do not delay ours. */
export type DueQueue = 'managed' | 'external';

const queueOf = ({ storageId }: FileRef): DueQueue => (storageId === managedStorageId ? 'managed' : 'external');

const duePartition = (queue: DueQueue, time: number, shard: number): PartitionKey<'due' | 'dueExternal'> =>
  partitionKey(queue === 'managed' ? 'due' : 'dueExternal', {
    day: dayAt(time).name.replaceAll('-', ''),
    shard: String(shard),
  });

/** Padded, because sort keys are compared as text. */
const dueOrder = (time: number): string => String(time).padStart(15, '0');

const shardOf = ({ filePath }: FileRef): number => (hash('sha256', filePath, 'buffer')[0] ?? 0) % shards;

interface Due extends FileRef {
  readonly move: string;
  /** Milliseconds since 1970; `first` is the due time before any failure. */
  readonly due: number;
  readonly first: number;
  readonly tries: number;
  readonly sizes?: ReadonlySet<string> | undefined;
  /** An upload in parts to abort, and its key. */
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

/** Schedules a check of a path; part of the transaction that makes it necessary. */
export const putDueEntry = (
  { projectId, storageId, filePath }: FileRef,
  move: Move,
  left: { readonly upload?: MultipartUpload | undefined; readonly sizes?: ReadonlySet<string> | undefined } = {},
): Put => {
  const { upload } = left;
  // DynamoDB has no empty sets.
  const sizes = left.sizes?.size ? left.sizes : undefined;
  const due = clock.now() + (move === 'requested' ? reservationMs(storageId) : waitMs[move]);
  const parts = upload && { uploadId: upload.uploadId, objectKey: upload.key };
  // Variants that are charged in the same millisecond need their own entries.
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

/** Time up to which everything is done, so that a run does not read every past day. */
const doneKey = (queue: DueQueue): Key =>
  itemKey(kinds.sweptUntil, partitionKey('dueDone'), { queue: queue === 'managed' ? 'until' : `until#${queue}` });

/** How far back a run looks if that time is unknown, or in the future after a wrong clock. */
const maxPastMs = 100 * dayMs;

const doneUntil = async (queue: DueQueue, now: number): Promise<number> => {
  const { until = Number.NaN } = (await get<{ readonly until?: number }>(doneKey(queue))) ?? {};
  return until <= now ? until : now - maxPastMs;
};

/** Never moves the time back, unless it is later than `now`. */
const setDoneUntil = async (queue: DueQueue, time: number, now: number): Promise<void> => {
  await write({
    update: doneKey(queue),
    change: 'SET #until = :time',
    condition: 'attribute_not_exists(#until) OR #until < :time OR #until > :now',
    values: { time, now },
  });
};

const nextIn = async (partition: string, now: number): Promise<readonly DueEntry[]> =>
  (await list<DueItem>({ partition, only: { before: dueOrder(now + 1) }, most: pageSize })).map(toDueEntry);

/** Day by day, oldest first, up to 25 per partition. The consumer must remove or reschedule each entry. */
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

/** Can be repeated. */
export const removeDueEntry = ({ key }: DueEntry): Promise<unknown> => write({ delete: key });

/** Delays a failed entry by 1 h, then 2 h, 4 h … 24 h, unless another run has handled it. */
export const reschedule = async ({ key, ...entry }: DueEntry): Promise<void> => {
  const tries = entry.tries + 1;
  const later = putDue({ ...entry, due: clock.now() + delayAfter(backoff, tries), tries });
  await transact([{ delete: key, condition: 'attribute_exists(pk)' }, later]);
};

const confirmableUntil = ({ first }: DueEntry): number => first + waitMs.arrived;

/** True for a reservation that lasts longer if its upload has arrived. */
export const mayAwaitConfirmation = (entry: DueEntry): boolean =>
  entry.move === 'requested' && entry.storageId === managedStorageId && clock.now() < confirmableUntil(entry);

/** Extends such a reservation, unless another run has. */
export const awaitConfirmation = async ({ key, ...entry }: DueEntry): Promise<void> => {
  const due = confirmableUntil({ key, ...entry });
  const later = putDue({ ...entry, move: 'arrived', due, first: due });
  await transact([{ delete: key, condition: 'attribute_exists(pk)' }, later]);
};
