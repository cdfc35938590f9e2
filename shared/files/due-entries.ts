import { createHash } from 'node:crypto';
import { clock } from '../core/clock.ts';
import { itemKey, type Key, type PartitionKey, partitionKey } from '../table/item-key.ts';
import * as kinds from '../table/keys.ts';
import type { Write } from '../table/transact.ts';
import { type Backoff, delayAfter } from '../work/retries.ts';
import { managedStorageId } from './storage-keys.ts';
import type { FileRef } from './upload-items.ts';

const minute = 60_000;
const hour = 60 * minute;

/** How long after a state change its objects are checked: not before everything in progress has ended. */
const waitMs = {
  /** A requested upload keeps its place in the quota this long. */
  requested: 24 * hour,
  /** A presigned URL lasts 10 minutes; until then something may yet come to a place that was emptied. */
  deleted: 15 * minute,
};

type Move = keyof typeof waitMs;

/** How long an entry waits whose storage did not do what it was asked. */
const backoff: Backoff = { first: hour, times: 2, most: 24 * hour };

/** Partitions per day, among which entries are spread by their path. */
export const shards = 10;

/** Storages of projects' own have their own queue: those that do not answer keep nobody waiting whose files we keep. */
export type DueQueue = 'managed' | 'external';

const queueOf = ({ storageId }: FileRef): DueQueue => (storageId === managedStorageId ? 'managed' : 'external');

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10).replaceAll('-', '');

/** The partition of what is due on the day of `time` (UTC), spread over ten by the path. */
export const duePartition = (queue: DueQueue, time: number, shard: number): PartitionKey<'due' | 'dueExternal'> =>
  partitionKey(queue === 'managed' ? 'due' : 'dueExternal', { day: dayOf(time), shard: String(shard) });

/** Times in sort keys: as many digits for all of them. */
export const dueOrder = (time: number): string => String(time).padStart(15, '0');

const shardOf = ({ filePath }: FileRef): number => (createHash('sha256').update(filePath).digest()[0] ?? 0) % shards;

/** A path that is to be looked at, and how often that has failed. */
interface Due extends FileRef {
  readonly move: string;
  /** Milliseconds since 1970; `first` is when it was due before anything failed. */
  readonly due: number;
  readonly first: number;
  readonly tries: number;
}

const putDue = ({ move, ...item }: Due): Write => ({
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
export const putDueEntry = ({ projectId, storageId, filePath }: FileRef, move: Move): Write => {
  const due = clock.now() + waitMs[move];
  return putDue({ projectId, storageId, filePath, move, due, first: due, tries: 0 });
};

/** A path that the sweep checks at `due`. */
export interface DueEntry extends Due {
  readonly key: Key;
}

/** As it is stored; `move` is in the key. */
export type DueItem = Key & Omit<Due, 'move' | 'first' | 'tries'> & Partial<Pick<Due, 'first' | 'tries'>>;

export const toDueEntry = ({ pk, sk, first, tries = 0, ...item }: DueItem): DueEntry => ({
  ...item,
  first: first ?? item.due,
  tries,
  move: sk.split('#')[1] ?? '',
  key: { pk, sk },
});

/** An entry that failed is due again an hour later, then two, four and so on up to a day. */
export const moveDueEntry = ({ key, ...entry }: DueEntry): Write[] => [
  { delete: key, condition: 'attribute_exists(pk)' },
  putDue({ ...entry, due: clock.now() + delayAfter(backoff, entry.tries + 1), tries: entry.tries + 1 }),
];
