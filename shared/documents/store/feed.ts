import { ObjectId, Timestamp } from 'mongodb';
import type { Collection, Feed } from '../../collections/collection.ts';
import { feedKeys } from '../../collections/indexes/indexes.ts';
import { typeAt } from '../../collections/schema/field-path.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { idOf } from '../../core/values.ts';
import { onProject } from '../../persistence/mongo.ts';
import { deserialize, findRaw, maxTimeMS, settled } from '../../persistence/raw-documents.ts';
import type { Project } from '../../projects/project.ts';
import type { AccessContext } from '../access/access.ts';
import { requireList, requireListOf } from '../access/reading.ts';
import { type Document, revisionOf } from '../document.ts';
import type { Condition } from '../query/condition.ts';
import { type IndexHint, lacksIndex } from '../query/index-hint.ts';
import { type At, before, type FeedPosition, secondsAt } from './feed-position.ts';

/** The error for a collection without a feed, or with one that is still being turned on (409). */
const notEnabled = (message: string): AppError => new AppError('CHANGES_NOT_ENABLED', message);

/** The value of the partition that a caller asks for; `undefined` for the whole collection. */
export type PartitionValue = string | ObjectId | undefined;

const invalidPartition = (field: string, message: string): AppError =>
  new AppError('INVALID_QUERY', message, { errors: [{ field, message }] });

/**
 * The partition that a caller names, as documents store it. Throws 400 `INVALID_QUERY`, whose `errors` name the field,
 * if a publishable key names none or the collection has none; 403 `RULE_DENIED` if the caller can list nothing in it.
 */
export const requirePartition = async (context: AccessContext, given: string | undefined): Promise<PartitionValue> => {
  const { collection, caller } = context;
  const { name, partition } = collection;
  if (partition === undefined) {
    if (given === undefined) return undefined;
    throw invalidPartition('partition', `The collection "${name}" has no partition. Leave partition out.`);
  }
  if (given === undefined) {
    if (caller.kind === 'secret') return undefined;
    const message = `The collection "${name}" is partitioned by "${partition}". Send partition with a value of this field.`;
    throw invalidPartition(partition, message);
  }
  const value = typeAt(collection, partition)?.type === 'Ref' ? (idOf(given) ?? given) : given;
  await requireListOf(context, { [partition]: value });
  return value;
};

/**
 * The feed of a collection. Throws 401 if the caller may not list it, 409 if it has no feed or a feed that is not
 * ready.
 */
export const requireFeed = async (context: AccessContext): Promise<Feed> => {
  await requireList(context);
  const { name, feed } = context.collection;
  if (!feed?.on) {
    throw notEnabled(
      `The collection "${name}" has no changes feed. To turn it on, set "changes": true on the collection with the dashboard API.`,
    );
  }
  if (clock.now() < feed.readyAt.getTime()) {
    throw notEnabled(`The changes feed of "${name}" was turned on a moment ago. Retry in a few seconds.`);
  }
  return feed;
};

export const atOf = (stored: Timestamp): At => BigInt.asUintN(64, stored.toBigInt());

export const placeOf = ({ _pos }: Document): At => (_pos instanceof Timestamp ? atOf(_pos) : 0n);

export const timestamp = (at: At): Timestamp => new Timestamp(at);

/** A read of a feed: which documents, by which index, from which end. */
interface FeedRead {
  readonly filter: Condition;
  readonly sort: { readonly _pos: 1 | -1 };
  readonly hint: IndexHint;
  readonly limit: number;
  readonly projection?: Readonly<Record<string, 0 | 1>>;
}

/**
 * Passes the stored entries of a feed to `take` until it wants no more. Uses an index of the feed, which may not be
 * built yet. Returns whether it passed all.
 */
export const walkFeed = (
  { project, collection }: Pick<AccessContext, 'project' | 'collection'>,
  { filter, ...find }: FeedRead,
  take: (stored: Document, raw: Uint8Array) => boolean,
): Promise<boolean> =>
  onProject(project, async (db) => {
    try {
      for await (const batch of findRaw(db, collection.name, filter, { ...find, ...settled, maxTimeMS })) {
        if (!batch.every((raw) => take(deserialize(raw) as Document, raw))) return false;
      }
      return true;
    } catch (error) {
      if (!lacksIndex(error)) throw error;
      throw notEnabled('The changes feed of this collection is being prepared. Retry in a minute.');
    }
  });

/** The condition of changes after a position that were not shown yet. */
export const afterPosition = ({ after, shown }: FeedPosition): Condition =>
  ({ _pos: { $gt: timestamp(after), ...(shown.length > 0 && { $nin: shown.map(timestamp) }) } }) as Condition;

/** A change of a document, without its contents. */
export interface Moved {
  readonly _id: ObjectId;
  readonly rev: number;
  readonly isDeleted: boolean;
  readonly createdAt: Date | undefined;
  /** When, to the second. */
  readonly at: Date;
}

export const projection = { _rev: 1, _pos: 1, isDeleted: 1, createdAt: 1 } as const;

/**
 * The documents that changed after a position, in feed order, for any reader, with one find. Ids of other
 * types are left out. Also returns whether others follow.
 */
export const findMoved = async (project: Project, collection: Collection, position: FeedPosition, limit: number) => {
  const find = { filter: afterPosition(position), sort: { _pos: 1 }, projection, hint: feedKeys(), limit } as const;
  const [moved, places]: [Moved[], At[]] = [[], []];
  await walkFeed({ project, collection }, find, (stored) => {
    const { _id, createdAt } = stored;
    const place = placeOf(stored);
    places.push(place);
    if (!(_id instanceof ObjectId)) return true;
    const madeAt = createdAt instanceof Date ? createdAt : undefined;
    moved.push({
      _id,
      rev: revisionOf(stored),
      isDeleted: isTrashed(stored),
      createdAt: madeAt,
      at: new Date(secondsAt(place) * 1000),
    });
    return true;
  });
  return { moved, places, more: places.length === limit };
};

/** The first position of a feed. */
export const beginOf = ({ from }: Feed): FeedPosition => ({
  after: before(Math.floor(from.getTime() / 1000)),
  shown: [],
});
