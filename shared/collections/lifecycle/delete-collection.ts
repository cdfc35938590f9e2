import { type Db, ObjectId } from 'mongodb';
import { onManaged, onProject } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import { projectSaved } from '../../core/saved-projects.ts';
import type { Project } from '../../projects/project.ts';
import { removeUserItems } from '../../projects/project-items.ts';
import { changeHeld, deleteHeld, takeOver } from '../../work/lease.ts';
import type { CollectionRecord } from '../collection-record.ts';
import { collectionNotFound, collectionRecords, leasedCollections, leaseEnd } from '../control-collections.ts';
import { ownUriOf } from '../on-collection.ts';
import { usersCollection } from '../schema/collection-name.ts';
import { dropCollection, mayGoOn } from './drop-collection.ts';

/** How long a caller waits for one database, and how long the database itself tries. */
const dropLimitMs = 20_000;
const dropMs = 15_000;

/** How long ending the sessions of users may take at once; what is left then is left to the clean-up job. */
const sessionsLimitMs = 5000;

/** At most once, and only where the collection was deleted: what is created there later is not ours. */
const dropDocuments = async (project: Project, { name, dropUri }: CollectionRecord): Promise<void> => {
  const drop = (db: Db): Promise<void> => dropCollection(db, name, dropMs);
  if (dropUri !== undefined && dropUri === ownUriOf(project, name)) await onProject(project, drop, dropLimitMs);
  await onManaged(project, drop, dropLimitMs);
};

/**
 * Drops the documents of a collection whose deletion the caller has claimed, and ends the sessions of users; may be
 * repeated. Its name and place are free from then on. Where functions may still know the collection its record stays,
 * as `dropped`, until it is claimed again; `isLast` says that none does. Where the project has a database of its own,
 * what the collection left behind in ours goes too.
 */
const finishDeletion = async (project: Project, claimed: CollectionRecord, isLast: boolean): Promise<void> => {
  const { _id, name } = claimed;
  await dropDocuments(project, claimed);
  if (name === usersCollection && !(await removeUserItems(project.id, sessionsLimitMs)).complete) return;
  if (isLast) await deleteHeld(leasedCollections, claimed);
  else {
    await changeHeld(leasedCollections, claimed, {
      $set: { state: 'dropped', slot: _id, updatedAt: new Date(clock.now()) },
      $unset: { dropUri: 1 },
    });
  }
};

/** Takes over a deletion or creation that was cut short and finishes its removal; one of all callers does. */
export const takeOverDeletion = async (project: Project, found: CollectionRecord): Promise<boolean> => {
  const claim = { $set: { state: 'deleting', updatedAt: new Date(clock.now()) } } as const;
  const claimed = await takeOver(leasedCollections, found, claim);
  if (!claimed) return false;
  // Judged by the record before it was claimed: whether no function can have the collection cached any more.
  const isForgotten = found.state !== 'deleting' || found.updatedAt <= leaseEnd('dropped');
  await finishDeletion(project, claimed, isForgotten);
  return true;
};

/**
 * Deletes a collection with all its documents; with `users`, every session of theirs ends. From the first step on no
 * look-up finds it. A deletion that was cut short is finished by the next one, by a creation of the same name, or by
 * the clean-up job. Unknown → 404 `COLLECTION_NOT_FOUND`.
 */
export const deleteCollection = async (project: Project, name: string): Promise<void> => {
  const uri = ownUriOf(project, name);
  const dropUri = { $cond: [{ $eq: ['$state', 'active'] }, uri ? { $literal: uri } : '$$REMOVE', '$dropUri'] };
  const record = await collectionRecords.findOneAndUpdate(
    {
      projectId: new ObjectId(project.id),
      name: { $eq: name },
      $or: [{ state: 'active' }, { state: 'deleting', updatedAt: { $lte: leaseEnd('deleting') } }],
    },
    [{ $set: { state: 'deleting', updatedAt: new Date(clock.now()), dropUri } }],
    { returnDocument: 'after' },
  );
  if (!record) throw collectionNotFound(name);
  projectSaved(project.id);
  try {
    await finishDeletion(project, record, false);
  } catch (error) {
    // So that the next caller can finish it.
    const released = { $set: { updatedAt: leaseEnd('deleting') } };
    if (!mayGoOn(error)) await changeHeld(leasedCollections, record, released).catch(() => undefined);
    throw error;
  }
};
