import type { Db } from 'mongodb';
import { maxTimeMS } from '../clients/find-raw.ts';
import { onManaged, onProject } from '../clients/mongo.ts';
import type { Project } from '../projects/project.ts';
import { usersCollection } from './schema/collection-name.ts';
import { isInTrash } from './trash-conditions.ts';

/** Runs an operation on the database that holds a collection: `users` is in ours even where the documents are not. */
export const onCollection = <T>(
  project: Project,
  name: string,
  operation: (db: Db) => Promise<T>,
  limitMs?: number,
): Promise<T> => (name === usersCollection ? onManaged : onProject)(project, operation, limitMs);

/**
 * About how many active documents a collection holds, or `withTrash` all, at the same cost at any size: the database's
 * own count, less the trash, by the command `count`, which costs MongoDB half of what an aggregation does.
 */
export const estimateDocuments = (project: Project, name: string, withTrash = false): Promise<number> =>
  onCollection(project, name, async (db) => {
    const [all, trashed] = await Promise.all([
      db.collection(name).estimatedDocumentCount({ maxTimeMS }),
      withTrash ? 0 : db.collection(name).count(isInTrash, { maxTimeMS }),
    ]);
    return Math.max(0, all - trashed);
  });

/** The stored URI of the database that holds a collection, where it is the developer's own. */
export const ownUriOf = ({ placement }: Project, name: string): string | undefined =>
  placement.kind === 'external' && name !== usersCollection ? placement.encryptedUri : undefined;
