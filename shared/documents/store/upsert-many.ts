import { type ClientSession, type Collection as Documents, ObjectId } from 'mongodb';
import { isTrashed } from '../../collections/trash-conditions.ts';
import { AppError, isClientError, validationFailed } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import { responseTooLarge } from '../../core/json.ts';
import { onDuplicateKey, retryOnConflict } from '../../core/retry.ts';
import { outcomeUnknown } from '../../persistence/idempotency.ts';
import { onProject } from '../../persistence/mongo.ts';
import { maxTimeMS } from '../../persistence/raw-documents.ts';
import { allOrNone } from '../../persistence/records.ts';
import { requireDatabaseRoom } from '../../projects/database-quota.ts';
import { type AccessContext, obeysRules } from '../access/access.ts';
import { hasProtected, requireInsertRights } from '../access/field-rights.ts';
import { mayGet } from '../access/reading.ts';
import { requireCreate } from '../access/writing.ts';
import type { Document, JsonObject } from '../document.ts';
import { wakeForMails } from '../effects/pending-mails.ts';
import { type ConflictTarget, conflictTarget, conflictValues, hasValues, having } from './conflict-target.ts';
import { requireBulkAccess, undo } from './insert-many.ts';
import { countWrites, noteCause, noteWrite } from './joint-scope.ts';
import { atIndex, madeOf, type NewDocument, requireOwn } from './new-document.ts';
import { publishChange } from './publish.ts';
import { requireReferences } from './references.ts';
import { storedForm } from './stamps.ts';
import { storedEarlier } from './stored-earlier.ts';
import { countingClashes } from './unique-clashes.ts';
import { overtaken, type PreparedUpdate, prepareUpsert } from './upsert.ts';
import { sanitizeInsert, sizeOf } from './validate.ts';

/** `data` of the response to a bulk upsert. The ids are in the order of the bodies. */
interface UpsertedMany {
  readonly ids: readonly string[];
  readonly inserted: number;
  readonly updated: number;
}

interface Item {
  readonly index: number;
  readonly body: JsonObject;
  readonly values: JsonObject;
  /** The id of the document if it is new. */
  readonly newId: ObjectId;
}

type Write = { readonly item: Item } & (
  | { readonly insert: NewDocument; readonly update?: never; readonly isHidden: boolean }
  | { readonly update: PreparedUpdate; readonly insert?: never }
);

/** The maximum total bytes of BSON of the documents in memory. */
const maxBytes = 16 * 1024 * 1024;

/** Adds the index of the body to an error. */
const forItem = async <T>({ index }: Pick<Item, 'index'>, act: () => T | Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, retryAfter } = error;
    const more = retryAfter === undefined ? {} : { retryAfter };
    throw new AppError(code, `${error.message} (item ${index})`, { errors: atIndex(error, index), ...more });
  }
};

const requireDistinct = (target: ConflictTarget, items: readonly Item[]): void => {
  for (const { index, values } of items) {
    const twin = items.slice(0, index).find((other) => hasValues(target, values, other.values));
    if (!twin) continue;
    const message = `${target.label} has the same value as item ${twin.index}`;
    throw validationFailed({ index, field: target.label, message: `${message} (item ${index})` });
  }
};

const itemsOf = async (context: AccessContext, target: ConflictTarget, bodies: readonly JsonObject[]) => {
  const items: Item[] = [];
  for (const [index, body] of bodies.entries()) {
    const id = newId();
    await forItem({ index }, () => {
      const sent = sanitizeInsert(body);
      requireOwn(context.collection, context.caller, sent);
      const values = conflictValues(context, target, sent);
      items.push({ index, body: Object.keys(sent).length > 0 ? sent : values, values, newId: id });
    });
  }
  requireDistinct(target, items);
  return items;
};

/** The documents that have the values of the items. Throws 400 `RESULT_TOO_LARGE` if they are too large together. */
const findTargets = ({ project, collection }: AccessContext, target: ConflictTarget, items: readonly Item[]) =>
  onProject(project, async (db) => {
    const { collation } = target;
    const filter = { $or: items.map(({ values }) => having(target, values)) };
    const found: Document[] = [];
    let bytes = 0;
    const options = { maxTimeMS, ...(collation && { collation }) };
    for await (const document of db.collection<Document>(collection.name).find(filter, options)) {
      bytes += sizeOf(document);
      if (bytes > maxBytes) throw responseTooLarge();
      found.push(document);
    }
    return found;
  });

/** Decides an item, with every check of an insert or an update. */
const decide = async (context: AccessContext, item: Item, found: Document | undefined): Promise<Write> => {
  const { body } = item;
  if (found && found._id instanceof ObjectId && !isTrashed(found) && (await mayGet(context, found))) {
    return { item, update: await prepareUpsert(context, found, body) };
  }
  const insert = await madeOf(context, body, item.newId);
  if (hasProtected(context)) await requireInsertRights(context, body, insert.document);
  if (obeysRules(context)) await requireCreate(context, insert.document, ['create', 'after']);
  await requireReferences(context, insert.document);
  return { item, insert, isHidden: found !== undefined };
};

/** The progress of a request. Without transactions, documents that were written stay written for the next attempt. */
interface Progress {
  readonly done: Map<number, { readonly id: ObjectId; readonly isNew: boolean }>;
  at?: Write;
  isAtomic?: boolean;
}

const writeAll = async (
  context: AccessContext,
  stored: Documents<Document>,
  writes: readonly Write[],
  session: ClientSession | undefined,
  progress: Progress,
): Promise<void> => {
  progress.isAtomic = session !== undefined;
  // A transaction may start again.
  if (session) progress.done.clear();
  const options = session ? { session } : {};
  for (const write of writes) {
    progress.at = write;
    const { item, insert, update } = write;
    if (insert) await stored.insertOne(storedForm(context.project, insert), options);
    else if ((await stored.updateOne(update.filter, update.update, options)).matchedCount === 0) throw overtaken;
    const id = insert ? insert.document._id : update.made._id;
    if (insert) noteWrite({ context, kind: 'insert', _id: insert.document._id, document: insert.document });
    else noteWrite({ context, kind: 'change', _id: update.made._id, before: update.before, fields: update.fields });
    progress.done.set(item.index, { id, isNew: insert !== undefined });
  }
};

/**
 * The error of a unique value that is taken, with its index. A concurrent insert of the same value counts as
 * overtaken.
 */
const clashAt = ({ label }: ConflictTarget, { at }: Progress, clash: AppError): AppError => {
  if (!at) return clash;
  if (at.insert && !at.isHidden && clash.errors?.[0]?.field === label) return overtaken;
  const { index } = at.item;
  return new AppError(clash.code, `Item ${index}: ${clash.message}`, { errors: atIndex(clash, index), cause: clash });
};

/** Writes the remaining items in one attempt; `null` if another request interfered. */
const attempt = async (
  context: AccessContext,
  target: ConflictTarget,
  items: readonly Item[],
  isRepeat: boolean,
  progress: Progress,
): Promise<true | null> => {
  const { project, collection } = context;
  const pending = items.filter(({ index }) => !progress.done.has(index));
  const found = await findTargets(context, target, pending);
  // An earlier run of this request may have written them, and others may have changed them since.
  if (isRepeat && found.length > 0) throw outcomeUnknown();
  const writes: Write[] = [];
  for (const item of pending) {
    const same = found.find((document) => hasValues(target, item.values, document));
    writes.push(await forItem(item, () => decide(context, item, same)));
  }
  await requireDatabaseRoom(
    project,
    writes.reduce((bytes, { insert }) => bytes + (insert?.size ?? 0), 0),
  );
  countWrites(writes.length);
  const write = () =>
    onProject(project, (db) =>
      allOrNone(db, (session) => writeAll(context, db.collection(collection.name), writes, session, progress)),
    );
  try {
    await countingClashes(context, () =>
      onDuplicateKey(write(), (clash) => {
        throw clashAt(target, progress, clash);
      }),
    );
  } catch (error) {
    if (progress.isAtomic) progress.done.clear();
    if (error === overtaken) return null;
    const inserted = [...progress.done.values()].flatMap(({ id, isNew }) => (isNew ? [id] : []));
    if (inserted.length > 0 && isClientError(error)) {
      await onProject(project, (db) => undo(db.collection(collection.name), collection, { _id: { $in: inserted } }));
    }
    throw error;
  }
  const written = writes
    .map(({ insert, update }) => insert?.document ?? update?.made)
    .filter((made) => made !== undefined);
  await publishChange(context, written);
  await wakeForMails(context, written);
  for (const { item, insert, update } of writes) {
    const { index } = item;
    if (insert) noteCause(context, 'create', [{ document: insert.document, index }]);
    else noteCause(context, 'update', [{ document: update.made, stored: update.before, index }]);
  }
  return true;
};

/**
 * Upserts 1 to 100 documents, all or none: every check precedes the first write, and each document is written as it
 * was read. Throws 400 with the second index if a value occurs twice. Without transactions, a clash with a unique
 * value removes the inserted documents again but leaves the updated ones. Otherwise as `upsertDocument`. Contract 2,
 * "Upsert".
 */
export const upsertDocuments = async (
  context: AccessContext,
  bodies: readonly JsonObject[],
  onConflict: string,
): Promise<UpsertedMany> => {
  await requireBulkAccess(context, bodies);
  const target = await conflictTarget(context, onConflict);
  const items = await itemsOf(context, target, bodies);
  const isRepeat = (await storedEarlier(context, bodies.length)) !== undefined;
  const progress: Progress = { done: new Map() };
  await retryOnConflict('Other requests are changing these documents. Retry.', () =>
    attempt(context, target, items, isRepeat, progress),
  );
  const written = items.flatMap(({ index }) => progress.done.get(index) ?? []);
  const inserted = written.filter(({ isNew }) => isNew).length;
  return { ids: written.map(({ id }) => id.toHexString()), inserted, updated: written.length - inserted };
};
