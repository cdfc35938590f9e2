import type { Collection } from '../../collections/collection.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { changeDocument } from '../write/change-document.ts';

/**
 * Removes a document, active or trashed, for good, in one command. Missing → 404; another user's → 403 `NOT_OWNER`.
 * Specification, "Document lifecycle".
 */
export const removeDocument = async (
  project: Project,
  collection: Collection,
  caller: Caller,
  id: string,
): Promise<void> => {
  await changeDocument(project, collection, caller, id, {
    state: 'any',
    write: async (documents, filter) => ((await documents.deleteOne(filter)).deletedCount === 1 ? true : null),
  });
};
