import { onProject } from '../../../shared/persistence/mongo.ts';
import type { Project } from '../../../shared/projects/project.ts';

const perInsert = 10_000;

/**
 * Puts active documents into a collection behind the service's back, as it would have stored them; `of` makes what they
 * hold.
 */
export const addMany = async (
  project: Project,
  collection: string,
  count: number,
  of: (index: number) => Readonly<Record<string, unknown>>,
): Promise<void> => {
  for (let start = 0; start < count; start += perInsert) {
    const now = new Date();
    const documents = Array.from({ length: Math.min(perInsert, count - start) }, (_, index) => ({
      ...of(start + index),
      isDeleted: false,
      deletedAt: null,
      createdAt: now,
      updatedAt: now,
    }));
    await onProject(project, (db) => db.collection(collection).insertMany(documents, { ordered: false }), 60_000);
  }
};
