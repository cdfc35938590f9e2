import { ObjectId } from 'mongodb';
import { collectionRecords } from '../../collections/collection-record.ts';
import { sendsMail } from '../../collections/effects/effect.ts';
import { isNotGone, notTrashedAfter } from '../../collections/trash-conditions.ts';
import { clock } from '../../core/clock.ts';
import { databaseOf, onProject } from '../../persistence/mongo.ts';
import { queueSoon } from '../../persistence/work-queue.ts';
import { findProjectById } from '../../projects/find-project.ts';
import type { Removal } from '../../projects/items.ts';
import { type Project, projectRecords } from '../../projects/project.ts';
import { allOf, type Condition } from '../query/condition.ts';
import { followLater, noteRemoval } from './cascade-records.ts';
import { type Emptied, writeTombstones } from './tombstones.ts';

/** The number of documents that one command removes. Memory only holds their ids. */
const trashBatch = 1000;

/** No email of an effect waits to be queued. The tombstones of other documents keep them. */
const hasNoMails: Condition = { '_effects.mails.0': { $exists: false } };

/** Large documents take time, because they are read for their indexes. */
export const batchLimitMs = 30_000;

/**
 * Removes a batch, oldest first, and writes tombstones if there is a changes feed. The condition is part of the
 * write, so a document restored in the meantime stays.
 */
const removeBatch = async (project: Project, collection: Emptied, condition: Condition): Promise<Removal> =>
  onProject(
    project,
    async (db) => {
      const documents = db.collection<{ readonly _id: ObjectId }>(collection.name);
      const isFed = collection.feed?.on === true;
      const isMailing = sendsMail(collection, 'delete');
      const found = await documents
        .find(isFed || isMailing ? allOf([condition, isNotGone]) : condition, {
          projection: { _id: 1 },
          sort: { deletedAt: 1 },
          limit: trashBatch,
          maxTimeMS: batchLimitMs,
        })
        .toArray();
      if (found.length === 0) return { removed: 0, complete: true };
      const ids = found.map(({ _id }) => _id);
      const noted = await noteRemoval(project, {
        collection: collection.name,
        ids,
        kind: 'delete',
        wasActive: false,
        at: new Date(clock.now()),
      });
      const chosen = { _id: { $in: ids } };
      const bury = () => writeTombstones(db.collection(collection.name), collection, chosen, condition);
      let removed = 0;
      if (!isFed) {
        const isFree = isMailing ? hasNoMails : {};
        removed = (await documents.deleteMany(allOf([chosen, condition, isFree]), { hint: '_id_' })).deletedCount;
      }
      if (isFed || isMailing) removed += await bury();
      await followLater(project, noted);
      return { removed, complete: found.length < trashBatch };
    },
    batchLimitMs,
  );

/** Whether a project's documents are still in the same place. The project may be deleted or moved during a run. */
const isInPlace = async (project: Project): Promise<boolean> => {
  const now = await findProjectById(project.id);
  return now !== undefined && databaseOf(now) === databaseOf(project);
};

/** Removes batch by batch, until `deadline` (ms) or until the project has moved. */
export const removeTrashed = async (
  project: Project,
  collection: Emptied,
  condition: Condition,
  deadline: number,
): Promise<Removal> => {
  let removed = 0;
  while (clock.now() < deadline && (await isInPlace(project))) {
    const batch = await removeBatch(project, collection, condition);
    removed += batch.removed;
    if (batch.complete) return { removed, complete: true };
  }
  return { removed, complete: false };
};

/** Stored before anything is queued, so that a purge honours it even if the message is lost. */
const remember = async (project: Project, name: string, until: Date): Promise<void> => {
  const projectId = new ObjectId(project.id);
  await collectionRecords.updateOne(
    { projectId, name: { $eq: name }, state: 'active' },
    { $max: { [`trashEmptied.${databaseOf(project)}`]: until } },
  );
  await projectRecords.updateOne({ _id: projectId, state: 'active' }, { $set: { trashDueAt: until } });
};

/**
 * Removes the current trash of a collection: up to 1000 documents immediately, a larger trash by the work queue
 * (`complete: false`). Documents trashed later, and those restored before their turn, stay.
 */
export const emptyTrash = async (project: Project, collection: Emptied): Promise<Removal> => {
  const now = new Date(clock.now());
  const first = await removeBatch(project, collection, notTrashedAfter(now));
  if (first.complete) return first;
  await remember(project, collection.name, now);
  await queueSoon({ task: 'purge-trash', projectId: project.id });
  return first;
};
