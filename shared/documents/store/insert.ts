import type { ObjectId } from 'mongodb';
import { checksReferences } from '../../collections/schema/references.ts';
import { clock, dayMs } from '../../core/clock.ts';
import { AppError, isClientError } from '../../core/errors.ts';
import { fitsResponse, jsonOf } from '../../core/json.ts';
import { onDuplicateKey } from '../../core/retry.ts';
import { cutText, etagOf } from '../../core/text.ts';
import { idOf } from '../../core/values.ts';
import { onProject } from '../../persistence/mongo.ts';
import { currentTransaction } from '../../persistence/transaction.ts';
import { requireDatabaseRoom } from '../../projects/database-quota.ts';
import { type AccessContext, obeysRules, requireWriteAccess } from '../access/access.ts';
import { hasProtected, requireInsertRights } from '../access/field-rights.ts';
import { requireCreate, requireCreateAccess } from '../access/writing.ts';
import type { Document, JsonObject } from '../document.ts';
import { wakeForMails } from '../effects/pending-mails.ts';
import { getDocument } from '../query/get-document.ts';
import { countWrites, noteCause, noteWrite } from './joint-scope.ts';
import { madeOf, type NewDocument } from './new-document.ts';
import { publishChange } from './publish.ts';
import { requireReferences } from './references.ts';
import { storedForm } from './stamps.ts';
import { storedEarlier, throwUnlessRetried } from './stored-earlier.ts';
import { reuseId } from './tombstones.ts';
import { countingClashes } from './unique-clashes.ts';
import { shownToWriter, type WrittenDocument } from './written.ts';

/** Throws if the caller can insert nothing: 401, 403 `RLS_REQUIRED`, `RULE_DENIED`, `MFA_REQUIRED`. */
export const requireInsertAccess = async (context: AccessContext): Promise<void> => {
  if (obeysRules(context)) await requireCreateAccess(context);
  else requireWriteAccess(context);
};

interface InsertOptions {
  readonly _id?: ObjectId;
  /** The user who becomes the owner instead of the caller's. */
  readonly owner?: string | undefined;
  /** The document, if it was already made from the body. */
  readonly made?: NewDocument | undefined;
  /** The rules to check; `create` by default. */
  readonly rules?: readonly ('create' | 'after')[];
}

/** Notes inserts of a joint run, so that they can be undone. After an outage they may have happened. */
export const notingInserts = async <T>(
  context: AccessContext,
  documents: () => readonly Document[],
  insert: () => Promise<T>,
): Promise<T> => {
  const note = () => {
    for (const document of documents()) noteWrite({ context, kind: 'insert', _id: document._id, document });
  };
  try {
    const result = await insert();
    note();
    return result;
  } catch (error) {
    if (!isClientError(error)) note();
    throw error;
  }
};

/** Validates a body, inserts it and returns the document. `onClash` throws for a taken value or id. */
export const insertUnder = async (
  context: AccessContext,
  body: JsonObject,
  onClash: (clash: AppError) => Promise<never> | never,
  { _id, owner, made: earlierMade, rules }: InsertOptions = {},
): Promise<WrittenDocument> => {
  const { project, collection } = context;
  const byRules = obeysRules(context);
  const made = earlierMade ?? (await madeOf(context, body, _id, owner));
  const { size } = made;
  let { document } = made;
  if (hasProtected(context)) await requireInsertRights(context, body, document);
  if (byRules) await requireCreate(context, document, rules);
  if (checksReferences(collection)) await requireReferences(context, document);
  await requireDatabaseRoom(project, size);
  countWrites();
  const inserted = () =>
    onProject(project, (db) => db.collection(collection.name).insertOne(storedForm(project, made)));
  const insert = () =>
    onDuplicateKey(inserted(), async (clash) => {
      const free = _id && clash.errors?.[0]?.field === '_id' ? await reuseId(context, document) : undefined;
      if (!free) return onClash(clash);
      document = free;
    });
  await countingClashes(context, () => notingInserts(context, () => [document], insert));
  await publishChange(context, [document]);
  noteCause(context, 'create', [{ document, index: 0 }]);
  await wakeForMails(context, [document]);
  return shownToWriter(context, document);
};

/**
 * Inserts one document with one command and returns it as stored. Under row security a publishable key's user
 * becomes its owner. Throws 400 `INVALID_BODY`, `VALIDATION_FAILED`; 401; 403 `RLS_REQUIRED`, `NOT_OWNER`,
 * `DATABASE_QUOTA_EXCEEDED`; 409 `DUPLICATE_VALUE`; 413. A repeat returns what an earlier run stored. Contract 2,
 * "Insert".
 */
export const createDocument = async (context: AccessContext, body: JsonObject): Promise<WrittenDocument> => {
  await requireInsertAccess(context);
  const earlier = await storedEarlier(context, 1);
  if (earlier?.documents[0]) return shownToWriter(context, earlier.documents[0]);
  return insertUnder(context, body, throwUnlessRetried);
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
 * Inserts a document under an id that the caller chose, with the rights and checks of `createDocument`. The unique
 * `_id` decides between concurrent callers. Throws 412 `DOCUMENT_EXISTS` if the id is taken, by a tombstone too; 400
 * `INVALID_ID` if it is malformed. Contract 2, "Ids chosen by the client".
 */
export const insertById = async (
  context: AccessContext,
  id: string,
  body: JsonObject,
  { made }: Pick<InsertOptions, 'made'> = {},
): Promise<WrittenDocument> => {
  await requireInsertAccess(context);
  return insertUnder(context, body, clashById(context, id), { _id: chosenId(id), made });
};
