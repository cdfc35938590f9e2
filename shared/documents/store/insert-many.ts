import { type Db, type Collection as Documents, MongoBulkWriteError, type ObjectId } from 'mongodb';
import type { Collection } from '../../collections/collection.ts';
import { AppError } from '../../core/errors.ts';
import { onDuplicateKey } from '../../core/retry.ts';
import { onProject } from '../../persistence/mongo.ts';
import { mongoFailure } from '../../persistence/mongo-errors.ts';
import { allOrNone } from '../../persistence/records.ts';
import { requireDatabaseRoom } from '../../projects/database-quota.ts';
import { type AccessContext, obeysRules, requireWriteAccess, tokenMissing } from '../access/access.ts';
import { requireBulkRights } from '../access/field-rights.ts';
import { requireCreate, requireCreateAccess } from '../access/writing.ts';
import type { Document, JsonObject } from '../document.ts';
import { wakeForMails } from '../effects/pending-mails.ts';
import type { Condition } from '../query/condition.ts';
import { notingInserts } from './insert.ts';
import { countWrites, noteCause } from './joint-scope.ts';
import { atIndex, type NewDocument, newDocuments } from './new-document.ts';
import { publishChange } from './publish.ts';
import { requireEachReference } from './references.ts';
import { storedForm } from './stamps.ts';
import { isWithEarlier, storedEarlier, throwUnlessRetried } from './stored-earlier.ts';
import { writeTombstones } from './tombstones.ts';
import { countingClashes } from './unique-clashes.ts';

const maxItems = 100;

/** `data` of the response to a bulk insert. */
interface Inserted {
  readonly insertedCount: number;
  /** 24 hex characters each, in the order of the bodies. */
  readonly ids: readonly string[];
}

/** Throws for the first document that the `create` rule does not allow, with its index. */
const requireEachCreate = async (context: AccessContext, made: readonly NewDocument[]): Promise<void> => {
  const outcomes = await Promise.allSettled(made.map(({ document }) => requireCreate(context, document)));
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === 'fulfilled') continue;
    if (!(outcome.reason instanceof AppError) || outcome.reason.code !== 'RULE_DENIED') throw outcome.reason;
    const { code, message } = outcome.reason;
    throw new AppError(code, `${message} (item ${index})`, { errors: atIndex(outcome.reason, index) });
  }
};

const insertedOf = (ids: readonly ObjectId[]): Inserted => ({
  insertedCount: ids.length,
  ids: ids.map((id) => id.toHexString()),
});

/** A reader of the changes feed may have seen them. */
export const undo = async (stored: Documents, collection: Collection, chosen: Condition): Promise<void> => {
  if (collection.feed?.on) await writeTombstones(stored, collection, chosen, {});
  else await stored.deleteMany(chosen);
};

/** A transaction rolls everything back. Without one, the documents written before a clash are removed again. */
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
      // If an earlier run of the same request is storing them, this run must not remove them.
      const isEarlier = failure instanceof AppError && isWithEarlier(failure);
      if (!session && clashes && !isEarlier) await undo(stored, collection, { _id: { $in: [...ids] } });
      throw error;
    }
  });

/** Throws if the caller can insert nothing, or if there are more than 100 bodies. */
export const requireBulkAccess = async (context: AccessContext, bodies: readonly JsonObject[]): Promise<void> => {
  if (!obeysRules(context)) requireWriteAccess(context);
  else if (context.caller.userId === undefined) throw tokenMissing();
  else await requireCreateAccess(context);
  if (bodies.length > 0 && bodies.length <= maxItems) return;
  throw new AppError('INVALID_BODY', `Send an array of 1 to ${maxItems} documents; this one has ${bodies.length}.`);
};

/**
 * Inserts 1 to 100 documents with one command, all or none. Throws 400 with `errors: [{index, field, message}]` for
 * failed validation, 409 with the index of a document whose unique value is taken, otherwise the errors of
 * `createDocument`. Contract 2, "Bulk".
 */
export const createDocuments = async (context: AccessContext, bodies: readonly JsonObject[]): Promise<Inserted> => {
  const { project, collection } = context;
  const byRules = obeysRules(context);
  await requireBulkAccess(context, bodies);
  const earlier = await storedEarlier(context, bodies.length);
  if (earlier?.documents.length === bodies.length) return insertedOf(earlier.ids);
  const made = await newDocuments(context, bodies);
  await requireBulkRights(
    context,
    bodies,
    made.map(({ document }) => document),
  );
  if (byRules) await requireEachCreate(context, made);
  await requireEachReference(
    context,
    made.map(({ document }) => document),
  );
  await requireDatabaseRoom(
    project,
    made.reduce((bytes, { size }) => bytes + size, 0),
  );
  const ids = made.map(({ document }) => document._id);
  const there = new Set(earlier?.documents.map(({ _id }) => _id.toHexString()));
  const missing = made.map((each) => storedForm(project, each)).filter(({ _id }) => !there.has(_id.toHexString()));
  countWrites(missing.length);
  const insert = () =>
    onDuplicateKey(
      onProject(project, (db) => insertAll(db, collection, missing, ids)),
      throwUnlessRetried,
    );
  const inserted = () => missing;
  await countingClashes(context, () => notingInserts(context, inserted, insert));
  await publishChange(context, missing);
  noteCause(
    context,
    'create',
    made.map(({ document }, index) => ({ document, index })),
  );
  await wakeForMails(context, missing);
  return insertedOf(ids);
};
