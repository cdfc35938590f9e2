import { isDeepStrictEqual } from 'node:util';
import { type FindOptions, ObjectId } from 'mongodb';
import { ownerFieldOf } from '../../collections/collection.ts';
import { isTrashed } from '../../collections/trash-conditions.ts';
import { AppError, validationFailed } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { responseTooLarge } from '../../core/json.ts';
import { retryOnConflict } from '../../core/retry.ts';
import { outcomeUnknown } from '../../persistence/idempotency.ts';
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import { currentTransaction } from '../../persistence/transaction.ts';
import { type AccessContext, obeysRules } from '../access/access.ts';
import { mayGet } from '../access/reading.ts';
import type { Document, JsonObject } from '../document.ts';
import { changeOf, previewChange, previewInsert } from './batch-check.ts';
import { type ConflictTarget, conflictTarget, conflictValues, hasValues, having } from './conflict-target.ts';
import { allWithEffects, runCausedWrites, withEffects } from './effect-writes.ts';
import type { Guard } from './guarded-write.ts';
import { insertChecked, requireBulkAccess, requireInsertAccess } from './insert.ts';
import { forItem } from './item-errors.ts';
import { requireOwn } from './new-document.ts';
import { storedEarlier, throwUnlessRetried } from './stored-earlier.ts';
import { updateOne } from './update.ts';
import { sanitizeInsert, sizeOf } from './validate.ts';
import { shownToWriter, type WrittenDocument } from './written.ts';

/** A document after an upsert. */
interface Upserted extends WrittenDocument {
  readonly isNew: boolean;
}

/** `data` of the response to a bulk upsert. The ids are in the order of the bodies. */
interface UpsertedMany {
  readonly ids: readonly string[];
  readonly inserted: number;
  readonly updated: number;
}

/** A document to insert, or to update the one that has its values of the target. */
interface Item {
  readonly body: JsonObject;
  readonly values: JsonObject;
  /** Its id if it is new. */
  readonly _id: ObjectId;
}

/** Thrown and caught by upserts: another request has inserted, changed or deleted the document in between. */
const overtaken = new AppError('TOO_MANY_WRITERS', 'The document changed in between.');

const isOvertaken = (error: unknown): boolean =>
  error === overtaken || (error instanceof AppError && error.code === 'DOCUMENT_NOT_FOUND');

const busy = 'Other requests are changing this document. Retry.';

/** Repeats an upsert that another request has overtaken. */
const untilDone = <T>(busy: string, attempt: () => Promise<T>): Promise<T> =>
  retryOnConflict(busy, async () => {
    try {
      return await attempt();
    } catch (error) {
      if (isOvertaken(error)) return null;
      throw error;
    }
  });

const itemOf = (context: AccessContext, target: ConflictTarget, sentBody: JsonObject, _id: ObjectId): Item => {
  const sent = sanitizeInsert(sentBody);
  requireOwn(context.collection, context.caller, sent);
  const values = conflictValues(context, target, sent);
  // If only the owner is unique, the body may be empty.
  return { body: Object.keys(sent).length > 0 ? sent : values, values, _id };
};

/** The fields that decide whether the caller may update a document. Rules may need any field. */
const projectionFor = (context: AccessContext, { fields }: ConflictTarget) => {
  if (obeysRules(context)) return {};
  const names = [...fields, 'isDeleted', 'deletedAt', ownerFieldOf(context.collection.rls) ?? ''].filter(Boolean);
  return { projection: Object.fromEntries(names.map((name) => [name, 1])) };
};

/** The maximum total bytes of BSON of the documents in memory. */
const maxBytes = 16 * 1024 * 1024;

/**
 * The documents with the values of the items, also in the trash if values stay taken there. Throws 400
 * `RESULT_TOO_LARGE` if they are too large together.
 */
const findTargets = (
  context: AccessContext,
  target: ConflictTarget,
  items: readonly Item[],
  projection: FindOptions = {},
): Promise<Document[]> =>
  onProject(context.project, async (db) => {
    const { collation } = target;
    const conditions = items.map(({ values }) => having(target, values));
    const [only] = conditions;
    const filter = conditions.length === 1 && only ? only : { $or: conditions };
    const options = { maxTimeMS, ...projection, ...(collation && { collation }) };
    const found: Document[] = [];
    let bytes = 0;
    for await (const document of db.collection<Document>(context.collection.name).find(filter, options)) {
      bytes += sizeOf(document);
      if (bytes > maxBytes) throw responseTooLarge();
      found.push(document);
    }
    return found;
  });

/** The document must still have the values by which it was found. */
const keepsValues = (fields: readonly string[], found: Document): Guard => ({
  filter: { $and: fields.map((name) => ({ [name]: { $eq: found[name] ?? null } })) },
  refusal: (document) =>
    fields.every((name) => isDeepStrictEqual(document[name] ?? null, found[name] ?? null)) ? undefined : overtaken,
});

/** A caller cannot update a document that they may not read; their insert clashes with it. */
const isUpdated = async (context: AccessContext, found: Document | undefined): Promise<boolean> =>
  found?._id instanceof ObjectId && !isTrashed(found) && mayGet(context, found);

/** The rules that a new document must meet: an upsert must not insert what an update could not write. */
const rules = ['create', 'after'] as const;

/** Inserts an item, or updates the document that was found. */
const upsertItem = async (
  context: AccessContext,
  target: ConflictTarget,
  { body, _id }: Item,
  found: Document | undefined,
): Promise<Upserted> => {
  if (found && (await isUpdated(context, found))) {
    const guards = [keepsValues(target.fields, found)];
    const written = await updateOne(context, found._id.toHexString(), body, {}, { operation: 'upsert', guards });
    return { ...written, isNew: false };
  }
  const onClash = (clash: AppError): never => {
    if (!found && clash.errors?.[0]?.field === target.label) throw overtaken;
    return throwUnlessRetried(clash);
  };
  const inserted = await insertChecked(context, body, { _id, onClash, rules });
  return { ...inserted, isNew: true };
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
  const item = itemOf(context, target, body, newId());
  return untilDone(busy, () =>
    withEffects(context, ['create', 'update'], async () => {
      const earlier = await storedEarlier(context, 1);
      if (earlier?.documents[0]) return { ...(await shownToWriter(context, earlier.documents[0])), isNew: true };
      const [found] = await findTargets(context, target, [item], projectionFor(context, target));
      // An earlier run of this request may have updated it, and others may have changed it since.
      if (earlier && (await isUpdated(context, found))) throw outcomeUnknown();
      return upsertItem(context, target, item, found);
    }),
  );
};

const requireDistinct = (target: ConflictTarget, items: readonly Item[]): void => {
  for (const [index, { values }] of items.entries()) {
    const twin = items.slice(0, index).findIndex((other) => hasValues(target, values, other.values));
    if (twin < 0) continue;
    const message = `${target.label} has the same value as item ${twin}`;
    throw validationFailed({ index, field: target.label, message: `${message} (item ${index})` });
  }
};

/** Throws the error that an item would have, without writing it. */
const previewItem = async (
  context: AccessContext,
  { body, _id }: Item,
  found: Document | undefined,
): Promise<unknown> => {
  if (!found || !(await isUpdated(context, found))) {
    return previewInsert({ op: 'insert', access: context, id: _id, document: body, isChosen: false }, rules);
  }
  const change = await changeOf({ op: 'update', access: context, id: found._id, changes: body });
  return previewChange(context, found, { ...change, operation: 'upsert' }, false);
};

/** Writes items in order. Without a transaction, an item that another request has overtaken starts over alone. */
const upsertAll = async (
  context: AccessContext,
  target: ConflictTarget,
  items: readonly Item[],
): Promise<readonly Upserted[]> => {
  const isRepeat = (await storedEarlier(context, items.length)) !== undefined;
  const targets = await findTargets(context, target, items);
  if (isRepeat && targets.length > 0) throw outcomeUnknown();
  const inTransaction = currentTransaction.getStore() !== undefined;
  const each = items.map((item) => {
    const found = targets.find((document) => hasValues(target, item.values, document));
    return { item, found };
  });
  if (!inTransaction) {
    for (const [index, { item, found }] of each.entries()) {
      await forItem(index, () => previewItem(context, item, found));
    }
  }
  const written: Upserted[] = [];
  for (const [index, { item, found }] of each.entries()) {
    let same = found;
    const write = async () => {
      try {
        return await upsertItem(context, target, item, same);
      } catch (error) {
        if (!inTransaction && isOvertaken(error)) [same] = await findTargets(context, target, [item]);
        throw error;
      }
    };
    await forItem(index, async () => {
      written.push(await (inTransaction ? write() : untilDone(busy, write)));
      await runCausedWrites();
    });
  }
  return written;
};

/**
 * Upserts 1 to 100 documents, all or none. Throws 400 with the second index if a value occurs twice; otherwise the
 * errors of `upsertDocument` with the index. Contract 2, "Upsert".
 */
export const upsertDocuments = async (
  context: AccessContext,
  bodies: readonly JsonObject[],
  onConflict: string,
): Promise<UpsertedMany> => {
  await requireBulkAccess(context, bodies);
  const target = await conflictTarget(context, onConflict);
  const items: Item[] = [];
  for (const [index, body] of bodies.entries()) {
    items.push(await forItem(index, () => itemOf(context, target, body, newId())));
  }
  requireDistinct(target, items);
  const upserted = await untilDone(busy, () =>
    allWithEffects(context.project, () => upsertAll(context, target, items)),
  );
  const inserted = upserted.filter(({ isNew }) => isNew).length;
  return {
    ids: upserted.map(({ document }) => String(document._id)),
    inserted,
    updated: upserted.length - inserted,
  };
};
