import type { Collection } from '../../collections/collection.ts';
import type { Project } from '../../projects/project.ts';
import { changeDocument } from '../write/change-document.ts';

/** Removes a trashed document for good, in one command; missing, or not in the trash → 404, malformed id → 400. */
export const removeFromTrash = async (project: Project, collection: Collection, id: string): Promise<void> => {
  await changeDocument(project, collection, { kind: 'secret' }, id, {
    state: 'trashed',
    write: async (documents, filter) => ((await documents.deleteOne(filter)).deletedCount === 1 ? true : null),
  });
};
