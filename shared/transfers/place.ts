import type { Collection } from '../collections/collection.ts';
import { type CollectionRecord, toCollection } from '../collections/collection-record.ts';
import { onCollections } from '../collections/control-collections.ts';
import { databaseOf } from '../projects/database-of.ts';
import { readProject } from '../projects/find-project-by-id.ts';
import type { Project } from '../projects/project.ts';
import { TransferFailure } from './transfer-failure.ts';
import type { Origin, TransferRecord } from './transfer-record.ts';

/** Where a transfer works, as it is now. */
export interface Place {
  readonly project: Project;
  readonly collection: Collection;
  /** When the collection was last edited. */
  readonly editedAt: Date;
}

/** What a transfer of a collection that begins now is asked for. */
export const originOf = (project: Project, { _id }: Pick<CollectionRecord, '_id'>): Origin => ({
  database: databaseOf(project),
  collectionId: _id,
});

/**
 * The project and collection of a transfer, read now: a run takes minutes, and what it kept from its begin would have
 * it read or write where the project is not any more. Not what was asked for any more → `TransferFailure`.
 */
export const placeOf = async ({ projectId, origin, kind }: TransferRecord): Promise<Place> => {
  const [project, record] = await Promise.all([
    readProject(projectId),
    onCollections((collections) =>
      collections.findOne({ _id: origin.collectionId, state: 'active' }, { maxTimeMS: 5000 }),
    ),
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
