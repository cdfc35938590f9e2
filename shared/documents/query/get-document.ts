import { isShownIn } from '../../collections/trash-conditions.ts';
import type { JsonText } from '../../core/json.ts';
import { onProject } from '../../persistence/mongo.ts';
import { deserialize, findFirstRaw } from '../../persistence/raw-documents.ts';
import {
  type AccessContext,
  mayReadAll,
  mayWrite,
  notOwner,
  obeysRules,
  requireWriteAccess,
} from '../access/access.ts';
import { hasUnreadable, unreadableFor } from '../access/field-rights.ts';
import { mayGet, requireGet } from '../access/reading.ts';
import { decideWrite } from '../access/writing.ts';
import { type Document, documentId, documentNotFound, revisionOf } from '../document.ts';
import { Row } from './find-rows.ts';
import { populateRows, refPaths } from './populate.ts';
import { plainText, textOf, whole } from './projection.ts';
import { requireReadable } from './readable.ts';

interface GetDocumentOptions {
  readonly includeDeleted: boolean;
  /** `Ref` fields to replace by their documents, at most 5. */
  readonly populate?: readonly string[];
}

/** A document as shown, and its revision unless it is populated. */
interface Found {
  readonly document: Document | JsonText;
  readonly revision?: number;
}

/** Reads an active document. Throws 404 if it is missing. */
const findActive = async ({ project, collection }: AccessContext, id: string): Promise<Document> => {
  const _id = documentId(id);
  const raw = await onProject(project, (db) => findFirstRaw(db, collection.name, { _id }));
  const document = raw && (deserialize(raw) as Document);
  if (!document || !isShownIn(collection, false, document)) throw documentNotFound();
  return document;
};

/** Reads a document for what belongs to it, with the errors of `getDocument`. */
export const requireReadableDocument = async (context: AccessContext, id: string): Promise<Document> => {
  await requireGet(context, false);
  const document = await findActive(context, id);
  if (!(await mayGet(context, document))) throw documentNotFound();
  return document;
};

/**
 * Reads a document for a caller who changes what belongs to it, but not the document: of a rule only `before` counts.
 * Throws 404 if it is hidden, 403 with the code of its mode if the caller may read but not change it.
 */
export const requireChangeableDocument = async (context: AccessContext, id: string): Promise<Document> => {
  await requireGet(context, false);
  if (obeysRules(context)) {
    const decision = await decideWrite(context, 'update');
    const document = await findActive(context, id);
    await decision.require(document, async () => undefined);
    return document;
  }
  requireWriteAccess(context);
  const document = await findActive(context, id);
  if (!(await mayGet(context, document))) throw documentNotFound();
  if (!mayWrite(context, document)) throw notOwner();
  return document;
};

/**
 * Reads one document by its id. Throws 404 if it is missing, trashed (unless `includeDeleted`) or another user's in
 * a private collection; 400 for a malformed id; 401 for a private collection without a user. Queries by `_id` only,
 * MongoDB's fastest path, and decides the rest in code.
 */
export const getDocument = async (
  context: AccessContext,
  id: string,
  { includeDeleted, populate = [] }: GetDocumentOptions,
): Promise<Found> => {
  const { project, collection } = context;
  await requireGet(context, includeDeleted);
  refPaths(collection, populate);
  const unreadable = hasUnreadable(context) ? await unreadableFor(context) : undefined;
  if (unreadable) requireReadable(unreadable, { populate });
  const wanted = { ...whole, unreadable };
  const _id = documentId(id);
  const raw = await onProject(project, (db) => findFirstRaw(db, collection.name, { _id }));
  if (!raw) throw documentNotFound();
  const text = populate.length === 0 && mayReadAll(context) ? plainText(project, raw, wanted) : undefined;
  if (text && !text.isTrashed) return { document: text.json, revision: text.revision };
  const document = deserialize(raw) as Document;
  const isShown = isShownIn(collection, includeDeleted, document) && (await mayGet(context, document));
  if (!isShown) throw documentNotFound();
  if (populate.length === 0) return { document: textOf(project, raw, wanted), revision: revisionOf(document) };
  const rows = [new Row(project, raw, wanted, false)];
  const [populated] = await populateRows({ ...context, query: { populate, includeDeleted } }, rows);
  return { document: populated ?? document };
};
