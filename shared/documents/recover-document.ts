import type { Collection } from '../collections/collection.ts';
import type { Caller, Project } from '../projects/project.ts';
import { changeDocument } from './change-document.ts';
import type { Document } from './document.ts';
import { present } from './present.ts';
import { wireDocumentOf } from './wire-value.ts';

/**
 * Takes a document back out of the trash and returns it, in one command. Not trashed → 404; its unique value taken meanwhile →
 * 409 `DUPLICATE_VALUE`; another user's → 403 `NOT_OWNER`. Contract 2, "Restore".
 */
export const recoverDocument = async (
  project: Project,
  collection: Collection,
  caller: Caller,
  id: string,
): Promise<Document> => {
  const recovered = await changeDocument(project, collection, caller, id, {
    state: 'trashed',
    write: (documents, filter) =>
      documents.findOneAndUpdate(filter, { $set: { isDeleted: false, deletedAt: null } }, { returnDocument: 'after' }),
  });
  return present(wireDocumentOf(project, recovered));
};
