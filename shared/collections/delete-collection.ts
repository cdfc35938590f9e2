import { type Db, MongoServerError, MongoServerSelectionError, ObjectId } from 'mongodb';
import { projectSaved } from '../core/cache.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { log } from '../core/log.ts';
import { type RecordJob, workThroughRecords } from '../persistence/jobs.ts';
import { changeHeld, claimStale, deleteHeld, reschedule } from '../persistence/lease.ts';
import { onManaged, onProject } from '../persistence/mongo.ts';
import { hasCode, isUnavailable } from '../persistence/mongo-errors.ts';
import { queueSoon } from '../persistence/work-queue.ts';
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
 * The server stops after `withinMs`, because a later drop could hit a new collection of the same name. Throws 503
 * `DATABASE_UNAVAILABLE` if it is not done by then.
 */
export const dropCollection = async (db: Db, name: string, withinMs: number): Promise<void> => {
  try {
    await db.dropCollection(name, { maxTimeMS: withinMs });
  } catch (error) {
    if (isAlreadyGone(error)) return;
    if (!hasCode(error, timeLimitExceeded)) throw error;
    throw new AppError('DATABASE_UNAVAILABLE', 'The database is too busy to drop the collection. Retry.', {
      cause: error,
      retryAfter: 5,
    });
  }
};

/** True if there was no response: the database may still execute the command. */
export const mayGoOn = (error: unknown): boolean =>
  isUnavailable(error) &&
  !(error.cause instanceof MongoServerError || error.cause instanceof MongoServerSelectionError);

/** The wait of a caller, and the time limit in the database. */
const dropLimitMs = 20_000;
const dropMs = 15_000;

/** The clean-up job ends the sessions that remain. */
const sessionsLimitMs = 5000;

/** Drops at most once, and only if the collection was deleted: anything created there later belongs to others. */
const dropDocuments = async (project: Project, { name, dropUri }: CollectionRecord): Promise<void> => {
  const drop = (db: Db): Promise<void> => dropCollection(db, name, dropMs);
  if (dropUri !== undefined && dropUri === customerUriOf(project, name)) await onProject(project, drop, dropLimitMs);
  await onManaged(project, drop, dropLimitMs);
};

/**
 * Drops the documents of a claimed deletion and ends the sessions of users. Idempotent. Name and slot are free
 * afterwards. The record stays as `dropped` unless `isLast`, because functions may have the collection cached. With a
 * customer's database, leftovers in ours are removed too.
 */
const finishDeletion = async (project: Project, claimed: CollectionRecord, isLast: boolean): Promise<void> => {
  const { _id, name } = claimed;
  await dropDocuments(project, claimed);
  if (project.attached?.includes(name)) {
    await queueSoon({ task: 'remove-files', projectId: project.id, collection: name });
  }
  if (name === usersCollection && !(await removeUserItems(project.id, sessionsLimitMs)).complete) return;
  if (isLast) await deleteHeld(leasedCollections, claimed);
  else {
    await changeHeld(leasedCollections, claimed, {
      $set: { state: 'dropped', slot: _id, updatedAt: new Date(clock.now()) },
      $unset: { dropUri: 1 },
    });
  }
};

/** Finishes an interrupted deletion or creation; exactly one caller does. */
export const takeOverDeletion = async (project: Project, found: CollectionRecord): Promise<boolean> => {
  const claim = { $set: { state: 'deleting', updatedAt: new Date(clock.now()) } } as const;
  const claimed = await claimStale(leasedCollections, found, claim);
  if (!claimed) return false;
  // Decided by the record before the claim.
  const isForgotten = found.state !== 'deleting' || found.updatedAt <= leaseEnd('dropped');
  await finishDeletion(project, claimed, isForgotten);
  return true;
};

/**
 * Deletes a collection, its documents and, for `users`, all sessions. The next deletion, a creation of the same name,
 * or the clean-up job finishes an interrupted one. Throws 404 `COLLECTION_NOT_FOUND`, 409 `SCHEMA_CONFLICT` if rules of
 * another collection name it.
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
    // The next caller can continue.
    const released = { $set: { updatedAt: leaseEnd('deleting') } };
    if (!mayGoOn(error)) await changeHeld(leasedCollections, record, released).catch(() => undefined);
    throw error;
  }
};

const removeAbandoned = async (record: CollectionRecord): Promise<boolean> => {
  const project = await loadProject(record.projectId);
  if (!project) {
    // The removal of the project removes it.
    await reschedule(leasedCollections, record);
    return false;
  }
  if (!(await takeOverDeletion(project, record))) return false;
  log.info({ job: 'remove-projects', project: project.id, collection: record.name, was: record.state });
  return true;
};

/** A collection rarely takes more than 30 s, and the run has other work. */
const abandonedCollections: RecordJob<CollectionRecord> = {
  ...leasedCollections,
  name: 'remove-projects',
  what: 'collection',
  open: dueForRemoval,
  quietMs: 0,
  page: 50,
  step: removeAbandoned,
  concurrency: 1,
  limitMs: 60_000,
};

/**
 * Removes interrupted creations and deletions, and late writes to deleted collections. Starts none after a minute.
 * Returns the number of collections.
 */
export const removeAbandonedCollections = async (): Promise<number> =>
  (await workThroughRecords(abandonedCollections)).done;
