import { MinKey } from 'mongodb';
import type { Project } from '../projects/project.ts';
import { onCollection } from './on-collection.ts';

/**
 * About how many active documents a collection holds, at the same cost at any size: the database's own count, less the
 * trash. The lower bound lets the partial index of the trash serve, and holds for every document.
 */
export const estimateDocuments = (project: Project, name: string): Promise<number> =>
  onCollection(project, name, async (db) => {
    const [all, trashed] = await Promise.all([
      db.collection(name).estimatedDocumentCount({ maxTimeMS: 5000 }),
      db.collection(name).countDocuments({ isDeleted: true, deletedAt: { $gte: new MinKey() } }, { maxTimeMS: 5000 }),
    ]);
    return Math.max(0, all - trashed);
  });
