import { type Db, type Collection as Documents, MongoBulkWriteError, type ObjectId } from 'mongodb';
import { allOrNone } from '../../clients/all-or-none.ts';
import { onProject } from '../../clients/mongo.ts';
import { mongoFailure } from '../../clients/mongo-failure.ts';
import type { Collection } from '../../collections/collection.ts';
import { clock } from '../../core/clock.ts';
import { AppError, type FieldError, maxErrors } from '../../core/errors.ts';
import { unlessTaken } from '../../core/until-written.ts';
import type { Caller } from '../../projects/project.ts';
import { requireDatabaseRoom } from '../../projects/quota/database-quota.ts';
import { nudge } from '../changes/nudge.ts';
import { bury } from '../changes/tombstones.ts';
import type { Document, JsonObject } from '../document.ts';
import { presentStored, withoutHidden } from '../present.ts';
import type { Condition } from '../read/condition.ts';
import { type Revised, revisionOf } from '../revision.ts';
import { requireWriteAccess, type Visit } from '../row-security.ts';
import { countingClashes } from './clashes.ts';
import { withFuse } from './fuse.ts';
import { type NewDocument, newDocument } from './new-document.ts';
import { isWithEarlier, orEarlier, storedEarlier } from './stored-earlier.ts';

/**
 * Inserts one document and returns it as stored, in one command. Under row security a publishable key owns what it
 * inserts. 400 `INVALID_BODY`, `VALIDATION_FAILED`; 401; 403 `RLS_REQUIRED`, `NOT_OWNER`, `DATABASE_QUOTA_EXCEEDED`;
 * 409 `DUPLICATE_VALUE`; 413. A repeat returns what an earlier run stored. Contract 2, "Insert".
 */
export const createDocument = async (visit: Visit, body: JsonObject): Promise<Revised> => {
  const { project, collection, caller } = visit;
  requireWriteAccess(visit);
  const earlier = await storedEarlier(visit, 1);
  if (earlier?.documents[0]) return presentStored(project, earlier.documents[0]);
  const made = newDocument(collection, caller, body, clock.now());
  const { document, size } = made;
  await requireDatabaseRoom(project, size);
  const inserted = () => onProject(project, (db) => db.collection(collection.name).insertOne(withFuse(project, made)));
  await countingClashes(visit, () => unlessTaken(inserted(), orEarlier));
  await nudge(visit, [document]);
  return { document: withoutHidden(document), revision: revisionOf(document) };
};

const maxItems = 100;

/** `data` of the response to a bulk insert. */
interface Inserted {
  readonly insertedCount: number;
  /** 24 hex characters each, in the order of the bodies. */
  readonly ids: readonly string[];
}

/** What is wrong with the item of an index; a failure of no single field is of all of it. */
const atIndex = ({ errors = [], message }: AppError, index: number): FieldError[] =>
  (errors.length > 0 ? errors : [{ field: '', message }]).map((error) => ({ index, ...error }));

/** Makes every body into a document; the first 100 failures are answered together, other refusals at once. */
const newDocuments = (collection: Collection, caller: Caller, bodies: readonly JsonObject[]): NewDocument[] => {
  const now = clock.now();
  const errors: FieldError[] = [];
  let first: string | undefined;
  const made = bodies.flatMap((body, index) => {
    try {
      return [newDocument(collection, caller, body, now)];
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const message = `${error.message} (item ${index})`;
      if (error.code !== 'VALIDATION_FAILED') {
        throw new AppError(error.code, message, { errors: atIndex(error, index) });
      }
      first ??= message;
      errors.push(...atIndex(error, index));
      return [];
    }
  });
  if (!first) return made;
  const named = errors.slice(0, maxErrors);
  const cut = named.length < errors.length ? `; errors has the first ${maxErrors} of at least ${errors.length}` : '';
  throw new AppError('VALIDATION_FAILED', first + cut, { errors: named });
};

const insertedOf = (ids: readonly ObjectId[]): Inserted => ({
  insertedCount: ids.length,
  ids: ids.map((id) => id.toHexString()),
});

/** Somebody may have read them in the changes feed by then. */
const undo = async (stored: Documents, collection: Collection, chosen: Condition): Promise<void> => {
  if (collection.feed?.on) await bury(stored, collection, chosen, {});
  else await stored.deleteMany(chosen);
};

/**
 * A transaction leaves nothing of a failed one; without, what was written before a clash is removed again, of all
 * `ids`.
 */
const insertAll = (
  db: Db,
  collection: Collection,
  documents: readonly Document[],
  ids: readonly ObjectId[],
): Promise<void> =>
  allOrNone(db, async (session) => {
    const stored = db.collection(collection.name);
    try {
      await stored.insertMany(documents, { ordered: true, ...(session ? { session } : {}) });
    } catch (error) {
      const failure = mongoFailure(error);
      const clashes = error instanceof MongoBulkWriteError && [error.writeErrors].flat().length > 0;
      // Where an earlier run of the same request is storing them, they are not this one's to remove.
      const isEarlier = failure instanceof AppError && isWithEarlier(failure);
      if (!session && clashes && !isEarlier) await undo(stored, collection, { _id: { $in: [...ids] } });
      throw error;
    }
  });

/**
 * Inserts 1 to 100 documents in one command, all or none: failed validation → 400 with `errors: [{index, field,
 * message}]`; where one clashes with a unique value → 409 naming its index. Otherwise as `createDocument`. Contract 2,
 * "Bulk".
 */
export const createDocuments = async (visit: Visit, bodies: readonly JsonObject[]): Promise<Inserted> => {
  const { project, collection, caller } = visit;
  requireWriteAccess(visit);
  if (bodies.length === 0 || bodies.length > maxItems) {
    throw new AppError('INVALID_BODY', `Send an array of 1 to ${maxItems} documents; this one has ${bodies.length}.`);
  }
  const earlier = await storedEarlier(visit, bodies.length);
  if (earlier?.documents.length === bodies.length) return insertedOf(earlier.ids);
  const made = newDocuments(collection, caller, bodies);
  await requireDatabaseRoom(
    project,
    made.reduce((bytes, { size }) => bytes + size, 0),
  );
  const ids = made.map(({ document }) => document._id);
  const there = new Set(earlier?.documents.map(({ _id }) => _id.toHexString()));
  const missing = made.map((each) => withFuse(project, each)).filter(({ _id }) => !there.has(_id.toHexString()));
  await countingClashes(visit, () =>
    unlessTaken(
      onProject(project, (db) => insertAll(db, collection, missing, ids)),
      orEarlier,
    ),
  );
  await nudge(visit, missing);
  return insertedOf(ids);
};
