import type { Collection } from '../collections/collection.ts';
import { type CollectionRecord, toCollection } from '../collections/collection-record.ts';
import { collectionRecords } from '../collections/control-collections.ts';
import { databaseOf } from '../projects/database-of.ts';
import { loadProject } from '../projects/find-project-by-id.ts';
import type { Project } from '../projects/project.ts';
import type { Origin, TransferRecord } from './transfer-record.ts';

/** Why a transfer cannot go on, for people: it ends as failed with this message. */
export class TransferFailure extends Error {
  override readonly name = 'TransferFailure';
}

/** A transfer's project and collection, read now. */
interface TransferContext {
  readonly project: Project;
  readonly collection: Collection;
  /** When the collection was last edited. */
  readonly editedAt: Date;
}

export const originOf = (project: Project, { _id }: Pick<CollectionRecord, '_id'>): Origin => ({
  database: databaseOf(project),
  collectionId: _id,
});

/**
 * Reads the project and collection of a transfer: a run takes minutes, and stale ones would make it read or write where
 * the project no longer is. Deleted or moved since the transfer was requested → `TransferFailure`.
 */
export const loadContext = async ({ projectId, origin, kind }: TransferRecord): Promise<TransferContext> => {
  const [project, record] = await Promise.all([
    loadProject(projectId),
    collectionRecords.findOne({ _id: origin.collectionId, state: 'active' }),
  ]);
  if (!project) throw new TransferFailure('The project was deleted.');
  if (!record) throw new TransferFailure('The collection was deleted before this had ended.');
  if (databaseOf(project) !== origin.database) {
    throw new TransferFailure(
      kind === 'export'
        ? 'The project was moved to another database before the export had ended. Please start a new one.'
        : 'The project was moved to another database before the import had ended. What was inserted until then is in the former one.',
    );
  }
  return { project, collection: toCollection(record), editedAt: record.updatedAt };
};
