import { createHash } from 'node:crypto';
import { clock } from '../core/clock.ts';
import type { Write } from '../table/transact.ts';
import { managedStorageId } from './storage-keys.ts';
import { type FileRef, type Item, number, text } from './upload-items.ts';

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

/** Partitions per day, among which entries are spread by their path. */
export const shards = 10;

/**
 * Storages of projects' own have a queue to themselves: those that do not answer keep nobody waiting whose files are in
 * ours.
 */
export type DueQueue = 'managed' | 'external';

const queueOf = ({ storageId }: FileRef): DueQueue => (storageId === managedStorageId ? 'managed' : 'external');

const queuePrefix: Readonly<Record<DueQueue, string>> = {
  managed: 'due#uploads#',
  external: 'due#uploads#external#',
};

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10).replaceAll('-', '');

/** The partition of what is due on the day of `time` (UTC), spread over ten by the path. */
export const duePartition = (queue: DueQueue, time: number, shard: number): string =>
  `${queuePrefix[queue]}${dayOf(time)}#${shard}`;

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

const putDue = ({ move, due, first, tries, ...ref }: Due): Write => ({
  Put: {
    Item: {
      pk: text(duePartition(queueOf(ref), due, shardOf(ref))),
      sk: text(`${dueOrder(due)}#${move}#${ref.filePath}`),
      projectId: text(ref.projectId),
      storageId: text(ref.storageId),
      filePath: text(ref.filePath),
      due: number(due),
      first: number(first),
      tries: number(tries),
    },
  },
});

/** Asks the sweep to look at a path later: part of the transaction that makes it necessary. */
export const putDueEntry = ({ projectId, storageId, filePath }: FileRef, move: Move): Write => {
  const due = clock.now() + waitMs[move];
  return putDue({ projectId, storageId, filePath, move, due, first: due, tries: 0 });
};

/** A path that the sweep checks at `due`. */
export interface DueEntry extends Due {
  readonly key: { readonly pk: { readonly S: string }; readonly sk: { readonly S: string } };
}

/** The entry of an item. */
export const toDueEntry = (item: Item): DueEntry => {
  const string = (name: string): string => item[name]?.S ?? '';
  const due = Number(item.due?.N);
  return {
    projectId: string('projectId'),
    storageId: string('storageId'),
    filePath: string('filePath'),
    move: string('sk').split('#')[1] ?? '',
    due,
    first: Number(item.first?.N ?? due),
    tries: Number(item.tries?.N ?? 0),
    key: { pk: text(string('pk')), sk: text(string('sk')) },
  };
};

/**
 * An entry that failed is due again an hour later, then two, four and so on up to a day, out of the way of all others.
 */
export const moveDueEntry = ({ key, ...entry }: DueEntry): Write[] => [
  { Delete: { Key: { ...key }, ConditionExpression: 'attribute_exists(pk)' } },
  putDue({ ...entry, due: clock.now() + Math.min(hour * 2 ** entry.tries, 24 * hour), tries: entry.tries + 1 }),
];
