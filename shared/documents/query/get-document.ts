import { isShownIn } from '../../collections/trash-conditions.ts';
import type { JsonText } from '../../core/json.ts';
import { onProject } from '../../persistence/mongo.ts';
import { deserialize, findFirstRaw } from '../../persistence/raw-documents.ts';
import { type AccessContext, mayReadAll } from '../access/access.ts';
import { hasUnreadable, unreadableFor } from '../access/field-rights.ts';
import { mayGet, requireGet } from '../access/rule-access.ts';
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
