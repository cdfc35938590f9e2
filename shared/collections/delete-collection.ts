import { type Db, MongoServerError, MongoServerSelectionError, ObjectId } from 'mongodb';
import { projectSaved } from '../core/cache.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { log } from '../core/log.ts';
import { type RecordJob, workThroughRecords } from '../persistence/jobs.ts';
import { changeHeld, claimStale, deleteHeld, reschedule } from '../persistence/lease.ts';
import { onManaged, onProject } from '../persistence/mongo.ts';
import { hasCode, isUnavailable } from '../persistence/mongo-errors.ts';
import { loadProject } from '../projects/find-project.ts';
import { removeUserItems } from '../projects/items.ts';
import type { Project } from '../projects/project.ts';
import {
  type CollectionRecord,
  collectionNotFound,
  collectionRecords,
  dueForRemoval,
  leasedCollections,
  leaseEnd,
} from './collection-record.ts';
import { customerUriOf } from './find-collections.ts';
import { isAlreadyGone } from './indexes/build.ts';
import { usersCollection } from './names.ts';
import { requireUnnamed } from './rules/check-rules.ts';

const timeLimitExceeded = 50;

/**
 * Drops a MongoDB collection, where there is one. The server gives up after `withinMs`, so that nothing is dropped
 * after its caller's time: that might be a new collection of the same name. Not done by then → 503
 * `DATABASE_UNAVAILABLE`.
 */
export const dropCollection = async (db: Db, name: string, withinMs: number): Promise<void> => {
  try {
    await db.dropCollection(name, { maxTimeMS: withinMs });
  } catch (error) {
    if (isAlreadyGone(error)) return;
    if (!hasCode(error, timeLimitExceeded)) throw error;
    throw new AppError('DATABASE_UNAVAILABLE', 'The database is too busy to drop the collection. Try again.', {
      cause: error,
      retryAfter: 5,
    });
  }
};

/** True for a failure without any reply: the database may still be executing the command. */
export const mayGoOn = (error: unknown): boolean =>
  isUnavailable(error) &&
  !(error.cause instanceof MongoServerError || error.cause instanceof MongoServerSelectionError);

/** How long a caller waits for one database, and how long the database itself tries. */
const dropLimitMs = 20_000;
const dropMs = 15_000;

/** How long ending the sessions of users may take at once; what is left then is left to the clean-up job. */
const sessionsLimitMs = 5000;

/** At most once, and only where the collection was deleted: what is created there later is not ours. */
const dropDocuments = async (project: Project, { name, dropUri }: CollectionRecord): Promise<void> => {
  const drop = (db: Db): Promise<void> => dropCollection(db, name, dropMs);
  if (dropUri !== undefined && dropUri === customerUriOf(project, name)) await onProject(project, drop, dropLimitMs);
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
  const claimed = await claimStale(leasedCollections, found, claim);
  if (!claimed) return false;
  // Judged by the record before it was claimed: whether no function can have the collection cached any more.
  const isForgotten = found.state !== 'deleting' || found.updatedAt <= leaseEnd('dropped');
  await finishDeletion(project, claimed, isForgotten);
  return true;
};

/**
 * Deletes a collection with all its documents; with `users`, every session of theirs ends. From the first step on no
 * look-up finds it. A deletion that was cut short is finished by the next one, by a creation of the same name, or by
 * the clean-up job. Unknown → 404 `COLLECTION_NOT_FOUND`; named by rules of another one → 409 `SCHEMA_CONFLICT`.
 */
export const deleteCollection = async (project: Project, name: string): Promise<void> => {
  await requireUnnamed(project, name);
  const uri = customerUriOf(project, name);
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

const removeAbandoned = async (record: CollectionRecord): Promise<boolean> => {
  const project = await loadProject(record.projectId);
  if (!project) {
    // Removing the project removes it.
    await reschedule(leasedCollections, record);
    return false;
  }
  if (!(await takeOverDeletion(project, record))) return false;
  log.info({ job: 'remove-projects', project: project.id, collection: record.name, was: record.state });
  return true;
};

/** A run of the job has more to do than this, and no collection takes much more than half a minute. */
const abandonedCollections: RecordJob<CollectionRecord> = {
  ...leasedCollections,
  name: 'remove-projects',
  what: 'collection',
  open: dueForRemoval,
  quietMs: 0,
  page: 50,
  step: removeAbandoned,
  pace: { lanes: 1, limitMs: 60_000 },
};

/**
 * Removes collections whose creation or deletion was cut short and that nobody has come back to: their data and their
 * record, which holds a name and a place; and, of deleted ones, what functions have written that still knew them. A run
 * begins none after a minute. Returns how many it has dealt with.
 */
export const removeAbandonedCollections = async (): Promise<number> =>
  (await workThroughRecords(abandonedCollections)).done;
