import { MongoBulkWriteError, type ObjectId } from 'mongodb';
import { clock, dayMs } from '../../core/clock.ts';
import { AppError, isClientError } from '../../core/errors.ts';
import { fitsResponse, jsonOf } from '../../core/json.ts';
import { onDuplicateKey } from '../../core/retry.ts';
import { cutText, etagOf } from '../../core/text.ts';
import { idOf } from '../../core/values.ts';
import { onProject } from '../../persistence/mongo.ts';
import { currentTransaction } from '../../persistence/transaction.ts';
import { requireDatabaseRoom } from '../../projects/database-quota.ts';
import { type AccessContext, obeysRules, requireWriteAccess, tokenMissing } from '../access/access.ts';
import { requireBulkRights, requireInsertRights } from '../access/field-rights.ts';
import { requireCreate, requireCreateAccess } from '../access/writing.ts';
import type { Document, JsonObject } from '../document.ts';
import { wakeForMails } from '../effects/pending-mails.ts';
import { getDocument } from '../query/get-document.ts';
import { storedForm } from './fuse.ts';
import { numbered } from './item-errors.ts';
import { countWrites, noteCause, noteWrite } from './joint-scope.ts';
import { jointly } from './jointly.ts';
import { madeOf, type NewDocument, newDocuments } from './new-document.ts';
import { publishChange } from './publish.ts';
import { requireEachReference, requireReferences } from './references.ts';
import { storedEarlier, throwUnlessRetried } from './stored-earlier.ts';
import { reuseId } from './tombstones.ts';
import { countingClashes } from './unique-clashes.ts';
import { shownToWriter, type WrittenDocument } from './written.ts';

/** Throws if the caller can insert nothing: 401, 403 `RLS_REQUIRED`, `RULE_DENIED`, `MFA_REQUIRED`. */
export const requireInsertAccess = async (context: AccessContext): Promise<void> => {
  if (obeysRules(context)) await requireCreateAccess(context);
  else requireWriteAccess(context);
};

const maxItems = 100;

/** Throws if the caller can insert nothing, or if there are more than 100 bodies. */
export const requireBulkAccess = async (context: AccessContext, bodies: readonly JsonObject[]): Promise<void> => {
  if (!obeysRules(context)) requireWriteAccess(context);
  else if (context.caller.userId === undefined) throw tokenMissing();
  else await requireCreateAccess(context);
  if (bodies.length > 0 && bodies.length <= maxItems) return;
  throw new AppError('INVALID_BODY', `Send an array of 1 to ${maxItems} documents; this one has ${bodies.length}.`);
};

/** Throws for the first document that the `create` rule does not allow, with its index. */
const requireEachCreate = async (context: AccessContext, documents: readonly Document[]): Promise<void> => {
  const outcomes = await Promise.allSettled(documents.map((document) => requireCreate(context, document)));
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === 'rejected') throw numbered(outcome.reason, 'item', index);
  }
};

/** The index of the document for which an insert of several ended. */
export const rejectedAt = ({ cause }: AppError): number =>
  (cause instanceof MongoBulkWriteError && [cause.writeErrors].flat()[0]?.index) || 0;

/**
 * Inserts one document, or several with one command and in order, and notes them for an undo of the joint run. Throws
 * 409 `DUPLICATE_VALUE`: for several, the documents before the index of the error were inserted.
 */
export const store = async (context: AccessContext, made: NewDocument | readonly NewDocument[]): Promise<void> => {
  const { project, collection } = context;
  const several = [made].flat();
  const forms = several.map((each) => storedForm(project, each));
  const [only = {}] = forms;
  // After an outage, all may have been inserted.
  let count = several.length;
  try {
    await onProject(project, async (db) => {
      const documents = db.collection(collection.name);
      if (Array.isArray(made)) await documents.insertMany(forms, { ordered: true });
      else await documents.insertOne(only);
    });
  } catch (error) {
    if (isClientError(error)) count = rejectedAt(error);
    throw error;
  } finally {
    for (const [at, { document }] of several.slice(0, count).entries()) {
      noteWrite({ context, kind: 'insert', _id: document._id, document }, at);
    }
  }
};

/** Publishes inserted documents, and notes those whose effects are to run. */
const announce = async (
  context: AccessContext,
  inserted: readonly Document[],
  causes: readonly Document[] = inserted,
): Promise<void> => {
  await publishChange(context, inserted);
  noteCause(
    context,
    'create',
    causes.map((document, index) => ({ document, index })),
  );
  await wakeForMails(context, inserted);
};

interface InsertOptions {
  readonly _id?: ObjectId | undefined;
  /** The user who becomes the owner instead of the caller's. */
  readonly owner?: string | undefined;
  /** The document, if it was already made from the body. */
  readonly made?: NewDocument | undefined;
  /** The rules to check; `create` by default. */
  readonly rules?: readonly ('create' | 'after')[];
  /** Throws the error for a taken value or id. */
  readonly onClash?: (clash: AppError) => Promise<never> | never;
}

/**
 * Validates a body, inserts it and returns the document. The caller of this function has checked that inserts are
 * allowed at all.
 */
export const insertChecked = async (
  context: AccessContext,
  body: JsonObject,
  { _id, owner, made: earlierMade, rules, onClash = throwUnlessRetried }: InsertOptions = {},
): Promise<WrittenDocument> => {
  const made = earlierMade ?? (await madeOf(context, body, _id, owner));
  let { document } = made;
  await requireInsertRights(context, body, document);
  if (obeysRules(context)) await requireCreate(context, document, rules);
  await requireReferences(context, document);
  await requireDatabaseRoom(context.project, made.size);
  countWrites();
  const insert = () =>
    onDuplicateKey(store(context, made), async (clash) => {
      const free = _id && clash.errors?.[0]?.field === '_id' ? await reuseId(context, document) : undefined;
      if (!free) return onClash(clash);
      noteWrite({ context, kind: 'insert', _id: free._id, document: free });
      document = free;
    });
  await countingClashes(context, insert);
  await announce(context, [document]);
  return shownToWriter(context, document);
};

/**
 * Inserts one document with one command and returns it as stored. Under row security a publishable key's user
 * becomes its owner. Throws 400 `INVALID_BODY`, `VALIDATION_FAILED`; 401; 403 `RLS_REQUIRED`, `NOT_OWNER`,
 * `DATABASE_QUOTA_EXCEEDED`; 409 `DUPLICATE_VALUE`; 413. A repeat returns what an earlier run stored. Contract 2,
 * "Insert".
 */
export const insertOne = async (context: AccessContext, body: JsonObject): Promise<WrittenDocument> => {
  await requireInsertAccess(context);
  const earlier = await storedEarlier(context, 1);
  if (earlier?.documents[0]) return shownToWriter(context, earlier.documents[0]);
  return insertChecked(context, body);
};

/** `data` of the response to a bulk insert. */
interface Inserted {
  readonly insertedCount: number;
  /** 24 hex characters each, in the order of the bodies. */
  readonly ids: readonly string[];
}

const insertedOf = (ids: readonly ObjectId[]): Inserted => ({
  insertedCount: ids.length,
  ids: ids.map((id) => id.toHexString()),
});

/**
 * Inserts 1 to 100 documents with one command, all or none. Throws 400 with `errors: [{index, field, message}]` for
 * failed validation, 409 with the index of a document whose unique value is taken, otherwise the errors of
 * `insertOne`. Contract 2, "Bulk".
 */
export const insertMany = async (context: AccessContext, bodies: readonly JsonObject[]): Promise<Inserted> => {
  const { project } = context;
  await requireBulkAccess(context, bodies);
  const earlier = await storedEarlier(context, bodies.length);
  if (earlier?.documents.length === bodies.length) return insertedOf(earlier.ids);
  const made = await newDocuments(context, bodies);
  const documents = made.map(({ document }) => document);
  await requireBulkRights(context, bodies, documents);
  if (obeysRules(context)) await requireEachCreate(context, documents);
  await requireEachReference(context, documents);
  await requireDatabaseRoom(
    project,
    made.reduce((bytes, { size }) => bytes + size, 0),
  );
  const there = new Set(earlier?.documents.map(({ _id }) => _id.toHexString()));
  const missing = made.filter(({ document }) => !there.has(document._id.toHexString()));
  countWrites(missing.length);
  const insert = () =>
    onDuplicateKey(
      jointly(project, () => store(context, missing)),
      throwUnlessRetried,
    );
  await countingClashes(context, insert);
  await announce(
    context,
    missing.map(({ document }) => document),
    documents,
  );
  return insertedOf(documents.map(({ _id }) => _id));
};

/**
 * The id that a client chose for a new document: 24 lower-case hex digits, at most a day ahead. Throws 400
 * otherwise.
 */
export const chosenId = (id: string): ObjectId => {
  const chosen = /^[0-9a-f]{24}$/.test(id) ? idOf(id) : undefined;
  if (!chosen) {
    throw new AppError(
      'INVALID_ID',
      `"${cutText(id, 40)}" cannot be the id of a new document: it must be 24 lower-case hexadecimal characters.`,
    );
  }
  if (chosen.getTimestamp().getTime() <= clock.now() + dayMs) return chosen;
  // Lists show the newest id first, so this one would stay on top.
  throw new AppError(
    'INVALID_ID',
    'The first 8 characters of the id are a time more than a day ahead. Start the id with the current time in seconds.',
  );
};

/** The error of an id that is taken (412): with the document if the caller may get it and it is not in the trash. */
const documentExists = async (context: AccessContext, id: string, cause: AppError): Promise<AppError> => {
  const message =
    'A document with this id exists, or was deleted recently. Change it with PUT or PATCH, or use another id.';
  try {
    const get = () => getDocument(context, id, { includeDeleted: false });
    // The clash has ended a transaction.
    const { document, revision } = await currentTransaction.exit(get);
    if (!fitsResponse(jsonOf(document))) return new AppError('DOCUMENT_EXISTS', message, { cause });
    const etag = revision === undefined ? {} : { etag: etagOf(revision) };
    return new AppError('DOCUMENT_EXISTS', message, { cause, data: document, ...etag });
  } catch (error) {
    if (!isClientError(error)) throw error;
    return new AppError('DOCUMENT_EXISTS', message, { cause });
  }
};

/** Throws the error of an insert whose id or value is taken. */
export const clashById =
  (context: AccessContext, id: string) =>
  async (clash: AppError): Promise<never> => {
    throw clash.errors?.[0]?.field === '_id' ? await documentExists(context, id, clash) : clash;
  };

/**
 * Inserts a document under an id that the caller chose, with the rights and checks of `insertOne`. The unique
 * `_id` decides between concurrent callers. Throws 412 `DOCUMENT_EXISTS` if the id is taken, by a tombstone too; 400
 * `INVALID_ID` if it is malformed. Contract 2, "Ids chosen by the client".
 */
export const insertWithId = async (
  context: AccessContext,
  id: string,
  body: JsonObject,
  { made }: Pick<InsertOptions, 'made'> = {},
): Promise<WrittenDocument> => {
  await requireInsertAccess(context);
  return insertChecked(context, body, { _id: chosenId(id), made, onClash: clashById(context, id) });
};
