import type { ObjectId } from 'mongodb';
import { checksReferences } from '../../collections/schema/references.ts';
import { type AppError, isClientError } from '../../core/errors.ts';
import { onDuplicateKey } from '../../core/retry.ts';
import { onProject } from '../../persistence/mongo.ts';
import { requireDatabaseRoom } from '../../projects/database-quota.ts';
import { type AccessContext, requireWriteAccess } from '../access/access.ts';
import {
  hasProtected,
  hasUnreadable,
  requireInsertRights,
  unreadableFor,
  withoutUnreadable,
} from '../access/field-rights.ts';
import { mayGet, obeysRules, requireCreate, requireCreateAccess } from '../access/rule-access.ts';
import { type Document, type JsonObject, revisionOf, withoutHidden } from '../document.ts';
import { wakeForMails } from '../effects/wake.ts';
import { countWrites, noteCause, noteWrite } from './joint-scope.ts';
import { madeOf } from './made-documents.ts';
import type { NewDocument } from './new-document.ts';
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

export interface InsertOptions {
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

/** What the caller sees of a document that they inserted: only its id if they may not read it. */
export const shownInserted = async (context: AccessContext, document: Document): Promise<WrittenDocument> => {
  if (obeysRules(context) && !(await mayGet(context, document))) return { document: { _id: document._id } };
  const unreadable = hasUnreadable(context) ? await unreadableFor(context) : undefined;
  const shown = withoutHidden(document);
  return {
    document: unreadable ? withoutUnreadable(unreadable, shown, document) : shown,
    revision: revisionOf(document),
  };
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
  return shownInserted(context, document);
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
