import { isDeepStrictEqual } from 'node:util';
import { type Filter, type Document as MongoDocument, ObjectId } from 'mongodb';
import { ownerFieldOf } from '../../collections/collection.ts';
import { isActive, isTrashed } from '../../collections/trash-conditions.ts';
import { AppError } from '../../core/errors.ts';
import { retryOnConflict } from '../../core/retry.ts';
import { outcomeUnknown } from '../../persistence/idempotency.ts';
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import { type AccessContext, mayWrite, notOwner, obeysRules } from '../access/access.ts';
import { mayGet } from '../access/reading.ts';
import { decideWrite } from '../access/writing.ts';
import { countingOf, type Document, isAt, type JsonObject, revisionOf } from '../document.ts';
import { type ConflictTarget, conflictTarget, conflictValues, having } from './conflict-target.ts';
import { withEffects } from './effect-writes.ts';
import type { Guard } from './guarded-write.ts';
import { insertUnder, requireInsertAccess } from './insert.ts';
import { requireOwn } from './new-document.ts';
import { appliedBy } from './operations.ts';
import { planFor } from './plan-update.ts';
import { requireReferences, setsReferences } from './references.ts';
import { stamped } from './stamps.ts';
import { storedEarlier, throwUnlessRetried } from './stored-earlier.ts';
import { updateDocument } from './update.ts';
import { sanitizeInsert, sizeOf } from './validate.ts';
import { shownToWriter, type WrittenDocument } from './written.ts';

/** A document after an upsert. */
interface Upserted extends WrittenDocument {
  readonly isNew: boolean;
}

/** Thrown and caught by upserts: another request has inserted, changed or deleted the document in between. */
export const overtaken = new AppError('TOO_MANY_WRITERS', 'The document changed in between.');

/** The fields that decide whether the caller may update a document. Rules may need any field. */
const projectionFor = (context: AccessContext, { fields }: ConflictTarget) => {
  if (obeysRules(context)) return {};
  const names = [...fields, 'isDeleted', 'deletedAt', ownerFieldOf(context.collection.rls) ?? ''].filter(Boolean);
  return { projection: Object.fromEntries(names.map((name) => [name, 1])) };
};

/** The document with the values of the target, also in the trash if values stay taken there. */
const findTarget = (context: AccessContext, target: ConflictTarget, values: JsonObject): Promise<Document | null> => {
  const { collation } = target;
  const options = { maxTimeMS, ...projectionFor(context, target), ...(collation && { collation }) };
  return onProject(context.project, (db) =>
    db.collection<Document>(context.collection.name).findOne(having(target, values), options),
  );
};

/** The document must still have the values by which it was found. */
const keepsValues = (fields: readonly string[], found: Document): Guard => ({
  filter: { $and: fields.map((name) => ({ [name]: { $eq: found[name] ?? null } })) },
  refusal: (document) =>
    fields.every((name) => isDeepStrictEqual(document[name] ?? null, found[name] ?? null)) ? undefined : overtaken,
});

const isOvertaken = (error: unknown): boolean =>
  error === overtaken || (error instanceof AppError && error.code === 'DOCUMENT_NOT_FOUND');

/**
 * Inserts the body or updates the document with the same values, in one attempt; `null` if another request
 * interfered.
 */
const upsertOnce = async (
  context: AccessContext,
  target: ConflictTarget,
  { body, values, isRepeat }: { readonly body: JsonObject; readonly values: JsonObject; readonly isRepeat: boolean },
): Promise<Upserted | null> => {
  const act = async (): Promise<Upserted> => {
    const found = await findTarget(context, target, values);
    // A caller cannot update a document that they may not read; their insert clashes with it.
    if (found && found._id instanceof ObjectId && !isTrashed(found) && (await mayGet(context, found))) {
      // An earlier run of this request may have updated it, and others may have changed it since.
      if (isRepeat) throw outcomeUnknown();
      const guards = [keepsValues(target.fields, found)];
      const written = await updateDocument(context, found._id.toHexString(), body, {}, { operation: 'upsert', guards });
      return { ...written, isNew: false };
    }
    const onClash = (clash: AppError): never => {
      if (!found && clash.errors?.[0]?.field === target.label) throw overtaken;
      return throwUnlessRetried(clash);
    };
    return { ...(await insertUnder(context, body, onClash, { rules: ['create', 'after'] })), isNew: true };
  };
  try {
    return await withEffects(context, ['create', 'update'], act);
  } catch (error) {
    if (isOvertaken(error)) return null;
    throw error;
  }
};

/**
 * Inserts a document, or updates the one with the same value of the unique field or list that `onConflict` names.
 * Throws 400 `INVALID_QUERY` if that is not unique, 400 `VALIDATION_FAILED` without a value, 409 `DUPLICATE_VALUE`
 * for a document that the caller may not read, otherwise the errors of an insert or update. Contract 2, "Upsert".
 */
export const upsertDocument = async (
  context: AccessContext,
  body: JsonObject,
  onConflict: string,
): Promise<Upserted> => {
  await requireInsertAccess(context);
  const target = await conflictTarget(context, onConflict);
  const sent = sanitizeInsert(body);
  requireOwn(context.collection, context.caller, sent);
  const values = conflictValues(context, target, sent);
  // If only the owner is unique, the body may be empty.
  const filled = Object.keys(sent).length > 0 ? sent : values;
  const earlier = await withEffects(context, ['create'], () => storedEarlier(context, 1));
  if (earlier?.documents[0]) return { ...(await shownToWriter(context, earlier.documents[0])), isNew: true };
  const isRepeat = earlier !== undefined;
  return retryOnConflict('Other requests are changing this document. Retry.', () =>
    upsertOnce(context, target, { body: filled, values, isRepeat }),
  );
};

/** An update of a document that was read. All checks are done. */
export interface PreparedUpdate {
  /** Matches the document only as it was read. */
  readonly filter: Filter<MongoDocument>;
  readonly update: MongoDocument;
  /** The document that was read, and the top-level fields that change. */
  readonly before: Document;
  readonly fields: ReadonlySet<string>;
  /** The document after the update. */
  readonly made: Document;
}

/**
 * Prepares an upsert's update of a given document, for a write of several documents, all or none. Throws the errors
 * of `updateDocument`.
 */
export const prepareUpsert = async (
  context: AccessContext,
  document: Document,
  body: JsonObject,
): Promise<PreparedUpdate> => {
  const { collection } = context;
  const { plan, fields, settle } = await planFor(context, body);
  const bytes = sizeOf(document);
  let set: JsonObject = fields;
  const settled = async () => {
    for (const { refusal } of plan.guards) {
      const refused = refusal(document, bytes);
      if (refused) throw refused;
    }
    if (settle) set = await settle(document);
    return appliedBy(set);
  };
  if (obeysRules(context)) {
    const decision = await decideWrite(context, 'upsert', appliedBy(fields));
    await decision.require(document, settled);
  } else {
    if (!mayWrite(context, document)) throw notOwner();
    await settled();
  }
  if (setsReferences(collection, set)) await requireReferences(context, set);
  const { where, operators } = stamped(context, countingOf(document));
  return {
    filter: { _id: document._id, ...isActive, $and: [isAt(revisionOf(document)), where] },
    update: {
      ...operators,
      $set: { ...set, ...operators.$set },
    },
    before: document,
    fields: appliedBy(set).fields,
    made: appliedBy({ ...set, _rev: revisionOf(document) + 1 }).to(document),
  };
};
