import { onControl } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import { log } from '../../core/log.ts';
import { logFailure } from '../../core/log-failure.ts';
import { type ProjectRecord, toProject } from '../../projects/project-record.ts';
import { workThrough } from '../../work/work-through.ts';
import type { CollectionRecord } from '../collection-record.ts';
import { dueForRemoval, onCollections } from '../control-collections.ts';
import { claimForDeletion, finishDeletion, isForgotten } from './delete-collection.ts';

const collectionsPerStep = 50;

/** A run of the job has more to do than this, and no collection takes much more than half a minute. */
const runMs = 60_000;

/** A collection of the developer's own database may have stood before its creation here was cut short: it stays. */
const forget = async ({ _id, updatedAt }: CollectionRecord): Promise<boolean> => {
  const { deletedCount } = await onCollections((collections) =>
    collections.deleteOne({ _id, state: 'creating', updatedAt }),
  );
  return deletedCount > 0;
};

/** Moves the record of a deleted project's collection to the end of the queue; removing the project removes it. */
const putOff = ({ _id, state, updatedAt }: CollectionRecord): Promise<unknown> =>
  onCollections((collections) =>
    collections.updateOne({ _id, state, updatedAt }, { $set: { updatedAt: new Date(clock.now()) } }),
  );

const removeAbandoned = async (record: CollectionRecord): Promise<boolean> => {
  const owner = await onControl((db) =>
    db.collection<ProjectRecord>('projects').findOne({ _id: record.projectId, state: 'active' }, { maxTimeMS: 5000 }),
  );
  if (!owner) {
    await putOff(record);
    return false;
  }
  if (record.state === 'creating' && owner.placement.kind === 'external') return forget(record);
  const claimed = await claimForDeletion(record);
  if (!claimed) return false;
  await finishDeletion(toProject(owner), claimed, isForgotten(record));
  log.info({ job: 'remove-projects', project: owner._id.toHexString(), collection: record.name, was: record.state });
  return true;
};

const due = (had: readonly CollectionRecord[]): Promise<CollectionRecord[]> =>
  onCollections((collections) =>
    collections
      .find(
        { ...dueForRemoval(), _id: { $nin: had.map(({ _id }) => _id) } },
        { sort: { updatedAt: 1 }, limit: collectionsPerStep, maxTimeMS: 5000 },
      )
      .toArray(),
  );

const tryToRemove = async (record: CollectionRecord): Promise<boolean> => {
  try {
    return await removeAbandoned(record);
  } catch (error) {
    logFailure({ job: 'remove-projects', collection: record._id.toHexString() }, error);
    return false;
  }
};

/**
 * Removes collections whose creation or deletion was cut short and that nobody has come back to: their data and their
 * record, which holds a name and a place; and, of deleted ones, what functions have written that still knew them. Those
 * that have waited longest come first, each once a run, and one that fails waits again, behind all others; a run begins
 * none after a minute. Returns how many it has dealt with.
 */
export const removeAbandonedCollections = async (): Promise<number> => {
  const dueAt = ({ updatedAt }: CollectionRecord): Date => updatedAt;
  const { done } = await workThrough({ next: due, dueAt, act: tryToRemove, lanes: 1, limitMs: runMs });
  return done;
};
