import { type Db, ObjectId } from 'mongodb';
import { onManaged } from '../clients/mongo.ts';
import { clock } from '../clock.ts';
import type { Project } from '../projects/project.ts';
import type { CollectionRecord } from './collection-record.ts';
import { collectionNotFound, leaseEnd, onCollections } from './control-collections.ts';
import { isInOwnDatabase, onCollection } from './on-collection.ts';
import { isAlreadyGone } from './sync-indexes.ts';

const dropLimitMs = 20_000;

const drop = async (db: Db, name: string): Promise<void> => {
  await db.dropCollection(name).catch((error: unknown) => {
    if (!isAlreadyGone(error)) throw error;
  });
};

/**
 * Drops the documents and then the record of a collection that is being deleted; may be repeated. Where the project has a
 * database of its own, what the collection left behind in ours goes too.
 */
export const finishDeletion = async (project: Project, { _id, name }: CollectionRecord): Promise<void> => {
  await onCollection(project, name, (db) => drop(db, name), dropLimitMs);
  if (isInOwnDatabase(project, name)) await onManaged(project, (db) => drop(db, name), dropLimitMs);
  await onCollections((collections) => collections.deleteOne({ _id, state: 'deleting' }));
};

/** Takes over a deletion, or the removal of a creation, that was cut short; one of any number of callers wins. */
export const claimForDeletion = async ({ _id, state, updatedAt }: CollectionRecord): Promise<boolean> => {
  const { matchedCount } = await onCollections((collections) =>
    collections.updateOne({ _id, state, updatedAt }, { $set: { state: 'deleting', updatedAt: new Date(clock.now()) } }),
  );
  return matchedCount > 0;
};

/** Lets the next caller finish a deletion at once, where this one failed. */
const release = ({ _id }: CollectionRecord): Promise<unknown> =>
  onCollections((collections) =>
    collections.updateOne({ _id, state: 'deleting' }, { $set: { updatedAt: new Date(0) } }),
  );

/**
 * Deletes a collection with all its documents. From the first step on no look-up finds it. A deletion that was cut short is
 * finished by the next one, by a creation of the same name, or by the clean-up job. Unknown → 404 `COLLECTION_NOT_FOUND`.
 */
export const deleteCollection = async (project: Project, name: string): Promise<void> => {
  const record = await onCollections((collections) =>
    collections.findOneAndUpdate(
      {
        projectId: new ObjectId(project.id),
        name: { $eq: name },
        $or: [{ state: 'active' }, { state: 'deleting', updatedAt: { $lte: leaseEnd() } }],
      },
      { $set: { state: 'deleting', updatedAt: new Date(clock.now()) } },
      { returnDocument: 'after' },
    ),
  );
  if (!record) throw collectionNotFound(name);
  try {
    await finishDeletion(project, record);
  } catch (error) {
    await release(record).catch(() => undefined);
    throw error;
  }
};
