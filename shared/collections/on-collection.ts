import type { Db } from 'mongodb';
import { onManaged, onProject } from '../clients/mongo.ts';
import type { Project } from '../projects/project.ts';
import { usersCollection } from './schema/collection-name.ts';

/** Runs an operation on the database that holds a collection: `users` is in ours even where the documents are not. */
export const onCollection = <T>(
  project: Project,
  name: string,
  operation: (db: Db) => Promise<T>,
  limitMs?: number,
): Promise<T> => (name === usersCollection ? onManaged : onProject)(project, operation, limitMs);

/** Whether a collection is in a database that is the developer's own. */
export const isInOwnDatabase = ({ placement }: Project, name: string): boolean =>
  placement.kind === 'external' && name !== usersCollection;
