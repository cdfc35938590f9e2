import { createHash } from 'node:crypto';
import { clock } from '../clock.ts';
import type { Write } from './transact.ts';
import { type FileRef, type Item, number, text } from './upload-items.ts';

const minute = 60_000;

/** How long after a move its objects are looked at: no earlier than nothing of it can still be under way. */
const waitMs = {
  /** A requested upload keeps its place in the quota this long. */
  requested: 24 * 60 * minute,
  /** A presigned URL lasts 10 minutes; until then something may yet come to a place that was emptied. */
  deleted: 15 * minute,
};

export const shards = 10;

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10).replaceAll('-', '');

/** The partition of what is due on the day of `time` (UTC), spread over ten by the path. */
export const duePartition = (time: number, shard: number): string => `due#uploads#${dayOf(time)}#${shard}`;

/** Times in sort keys: as many digits for all of them. */
export const dueOrder = (time: number): string => String(time).padStart(15, '0');

const shardOf = ({ filePath }: FileRef): number => (createHash('sha256').update(filePath).digest()[0] ?? 0) % shards;

/** Asks the sweep to look at a path later: part of the transaction that makes it necessary. */
export const putDueEntry = (ref: FileRef, move: keyof typeof waitMs): Write => {
  const due = clock.now() + waitMs[move];
  return {
    Put: {
      Item: {
        pk: text(duePartition(due, shardOf(ref))),
        sk: text(`${dueOrder(due)}#${move}#${ref.filePath}`),
        projectId: text(ref.projectId),
        storageId: text(ref.storageId),
        filePath: text(ref.filePath),
        due: number(due),
      },
    },
  };
};

export interface DueEntry extends FileRef {
  /** Milliseconds since 1970. */
  readonly due: number;
  readonly key: { readonly pk: { readonly S: string }; readonly sk: { readonly S: string } };
}

export const toDueEntry = (item: Item): DueEntry => {
  const string = (name: string): string => item[name]?.S ?? '';
  return {
    projectId: string('projectId'),
    storageId: string('storageId'),
    filePath: string('filePath'),
    due: Number(item.due?.N),
    key: { pk: text(string('pk')), sk: text(string('sk')) },
  };
};
