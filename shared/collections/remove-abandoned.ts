import { onControl } from '../clients/mongo.ts';
import { describeError, log } from '../log.ts';
import { type ProjectRecord, toProject } from '../projects/project-record.ts';
import type { CollectionRecord } from './collection-record.ts';
import { leaseEnd, onCollections } from './control-collections.ts';
import { claimForDeletion, finishDeletion } from './delete-collection.ts';

const collectionsPerRun = 50;

/** A collection of the developer's own database may have stood before its creation here was cut short: it stays. */
const forget = async ({ _id, updatedAt }: CollectionRecord): Promise<boolean> => {
  const { deletedCount } = await onCollections((collections) =>
    collections.deleteOne({ _id, state: 'creating', updatedAt }),
  );
  return deletedCount > 0;
};

const removeAbandoned = async (record: CollectionRecord): Promise<boolean> => {
  const owner = await onControl((db) =>
    db.collection<ProjectRecord>('projects').findOne({ _id: record.projectId, state: 'active' }, { maxTimeMS: 5000 }),
  );
  if (!owner) return false;
  if (record.state === 'creating' && owner.placement.kind === 'external') return forget(record);
  if (!(await claimForDeletion(record))) return false;
  await finishDeletion(toProject(owner, 'free'), record);
  log.info({ job: 'remove-projects', project: owner._id.toHexString(), collection: record.name, was: record.state });
  return true;
};

/**
 * Removes collections whose creation or deletion was cut short and that nobody has come back to: their data and their record,
 * which holds a name and a place. Answers how many are gone.
 */
export const removeAbandonedCollections = async (): Promise<number> => {
  const records = await onCollections((collections) =>
    collections
      .find(
        { state: { $in: ['creating', 'deleting'] }, updatedAt: { $lte: leaseEnd() } },
        { limit: collectionsPerRun, maxTimeMS: 5000 },
      )
      .toArray(),
  );
  let gone = 0;
  for (const record of records) {
    try {
      if (await removeAbandoned(record)) gone++;
    } catch (error) {
      log.error({ job: 'remove-projects', collection: record._id.toHexString(), error: describeError(error) });
    }
  }
  return gone;
};
