import { type Db, ObjectId } from 'mongodb';
import { noRowSecurity } from '../../collections/collection.ts';
import { type CollectionRecord, collectionRecords } from '../../collections/collection-record.ts';
import { usersCollection } from '../../collections/names.ts';
import { isTombstone, notTrashedAfter, trashEnd, trashedBy } from '../../collections/trash-conditions.ts';
import { clock, dayMs } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { describeError, log, logFailure } from '../../core/log.ts';
import { type Requeued, requeue } from '../../persistence/jobs.ts';
import { changeHeld, type Leased } from '../../persistence/lease.ts';
import { databaseOf, onProject } from '../../persistence/mongo.ts';
import { isUnavailable } from '../../persistence/mongo-errors.ts';
import { queueTask, queueTasks } from '../../persistence/work-queue.ts';
import { findProjectById } from '../../projects/find-project.ts';
import type { Removal } from '../../projects/items.ts';
import { type Project, type ProjectRecord, projectRecords } from '../../projects/project.ts';
import { allOf, type Condition } from '../query/condition.ts';
import { batchLimitMs, removeTrashed } from './empty-trash.ts';
import { type Emptied, emptyTombstones } from './tombstones.ts';

const runMs = 60_000;
const collectionsAtOnce = 100;

type Purgeable = Pick<CollectionRecord, '_id' | 'name' | 'trashEmptied' | 'rls' | 'feed' | 'partition'>;

/** The collections after `name`, in order. Users have no trash. */
const collectionsAfter = (project: Project, name: string): Promise<Purgeable[]> =>
  collectionRecords.find(
    { projectId: new ObjectId(project.id), state: 'active', name: { $gt: name, $ne: usersCollection } },
    {
      projection: { name: 1, trashEmptied: 1, rls: 1, feed: 1, partition: 1 },
      sort: { name: 1 },
      limit: collectionsAtOnce,
    },
  );

/** The trash was emptied; documents trashed from now on are kept again. */
const forgetEmptying = (_id: ObjectId, mark: string, until: Date): Promise<unknown> =>
  collectionRecords.updateOne({ _id, [mark]: until }, { $unset: { [mark]: '' } });

/** Contents that an interrupted run left in tombstones are removed within this time. */
const leftMs = 3 * dayMs;

/** The number of trashed documents that one step searches for tombstones with contents. */
const lookedThroughAtOnce = 5000;

/** Removes contents left in tombstones, step by step in the order of the trash. Returns whether the time was enough. */
const emptyLeft = async (project: Project, collection: Emptied, deadline: number): Promise<boolean> => {
  const step = async (db: Db, after: Date): Promise<Date | undefined> => {
    const trash = db.collection<{ readonly deletedAt: Date }>(collection.name);
    const rest: Condition = { isDeleted: true, deletedAt: { $gt: after } };
    const next = { projection: { deletedAt: 1 }, sort: { deletedAt: 1 }, skip: lookedThroughAtOnce - 1 } as const;
    const until = (await trash.findOne(rest, next))?.deletedAt;
    const among: Condition = until ? { isDeleted: true, deletedAt: { $gt: after, $lte: until } } : rest;
    await emptyTombstones(db.collection(collection.name), collection, among);
    return until;
  };
  let after: Date | undefined = new Date(clock.now() - leftMs);
  while (after && clock.now() < deadline) {
    const from: Date = after;
    after = await onProject(project, (db) => step(db, from), batchLimitMs);
  }
  return !after;
};

/**
 * Deletes documents whose time in the trash is over, leaving tombstones if there is a feed, and deletes old
 * tombstones.
 */
const purgeExpired = async (project: Project, collection: Emptied, deadline: number): Promise<Removal> => {
  const expired = trashedBy(trashEnd());
  const { feed, ...plain } = collection;
  if (!feed?.on) return removeTrashed(project, plain, expired, deadline);
  const buried = await removeTrashed(project, collection, expired, deadline);
  const served = await removeTrashed(project, plain, allOf([expired, isTombstone]), deadline);
  const complete = buried.complete && served.complete && (await emptyLeft(project, collection, deadline));
  return { removed: buried.removed, complete };
};

const purgeCollection = async (
  project: Project,
  { _id, name, trashEmptied, rls, feed = null, partition }: Purgeable,
  deadline: number,
): Promise<Removal> => {
  const collection: Emptied = { name, rls: { ...noRowSecurity, ...rls }, feed, ...(partition && { partition }) };
  const expired = await purgeExpired(project, collection, deadline);
  const database = databaseOf(project);
  const until = trashEmptied?.[database];
  if (!until || !expired.complete) return expired;
  const emptied = await removeTrashed(project, collection, notTrashedAfter(until), deadline);
  if (emptied.complete) await forgetEmptying(_id, `trashEmptied.${database}`, until);
  return { removed: expired.removed + emptied.removed, complete: emptied.complete };
};

/**
 * Deletes what has been in the trash of a project's collections for 30 days, and trash that was emptied, in the
 * project's current database; the trash in another database waits until the project returns there. Runs for a minute
 * at most, and stops if the project moves to another database; `complete` says whether that was enough. The next run
 * finds the rest, and several runs may work at the same time. A collection that fails does not stop the others; its
 * error is thrown at the end.
 */
export const purgeProject = async (project: Project, withinMs = runMs): Promise<Removal> => {
  const deadline = clock.now() + withinMs;
  const failures: unknown[] = [];
  let removed = 0;
  let last = '';
  for (;;) {
    const collections = await collectionsAfter(project, last);
    for (const collection of collections) {
      try {
        const purged = await purgeCollection(project, collection, deadline);
        removed += purged.removed;
        if (!purged.complete) return { removed, complete: false };
      } catch (error) {
        // An unreachable database fails for all collections.
        if (isUnavailable(error)) throw error;
        failures.push(error);
        logFailure({ job: 'purge-trash', project: project.id, collection: collection.name }, error);
      }
    }
    last = collections.at(-1)?.name ?? '';
    if (collections.length < collectionsAtOnce) break;
  }
  if (failures.length > 0) throw failures[0];
  return { removed, complete: true };
};

/** A purge that was queued or begun and has not ended by then is queued again. */
const purgeLease = (): Date => new Date(clock.now() + 3600_000);

/** Projects whose trash is due to be purged; those that never were come first. */
const duePurges: Requeued<ProjectRecord> = {
  name: 'purge-trash',
  records: projectRecords,
  dueAt: 'trashDueAt',
  due: () => ({ state: 'active', trashDueAt: { $not: { $gt: new Date(clock.now()) } } }),
  open: { state: 'active' },
  send: (ids) => queueTasks(ids.map((projectId) => ({ task: 'purge-trash', projectId }))),
  lostAt: purgeLease,
  // Shorter than the function may run.
  limitMs: 10 * 60_000,
};

/** Queues every project whose trash is due to be purged, one message each. Returns how many. */
export const queuePurges = (): Promise<number> => requeue(duePurges);

/** The next purge of a project: a little less than a day later, so that an hourly schedule keeps to the day. */
const nextPurge = (): Date => new Date(clock.now() + 23 * 3600_000);

/** A purge that was requested in the meantime, for example to empty a trash, still has to run. */
const leasedPurges: Leased<ProjectRecord> = { records: projectRecords, lease: 'trashDueAt', while: ['state'] };

/**
 * Keeps the project due within the hour and returns its record. Returns `null` if its own database was purged within
 * the last hour: its owner determines how long that takes, and the queue's runs serve everyone.
 */
const begin = ({ id, placement }: Project): Promise<ProjectRecord | null> => {
  const lease = purgeLease();
  const mine = { _id: new ObjectId(id), state: 'active' } as const;
  const [free, taken] =
    placement.kind === 'managed'
      ? [mine, { trashDueAt: lease }]
      : [
          { ...mine, ownPurgeAfter: { $not: { $gt: new Date(clock.now()) } } },
          { trashDueAt: lease, ownPurgeAfter: lease },
        ];
  return projectRecords.findOneAndUpdate(free, { $set: taken }, { returnDocument: 'after' });
};

/** The owner has to fix a customer's database that is down or rejects us. It is retried the next day. */
const purge = async (project: Project, withinMs?: number): Promise<Removal> => {
  try {
    return await purgeProject(project, withinMs);
  } catch (error) {
    if (project.placement.kind === 'managed' || !(error instanceof AppError)) throw error;
    log.warn({ job: 'purge-trash', project: project.id, error: describeError(error) });
    return { removed: 0, complete: true };
  }
};

/**
 * The task `purge-trash`: purges one project, and sends itself again if that takes longer than a run. The rest in a
 * customer's database waits for the schedule. Until it has ended, the project stays due within the hour, which makes
 * up for a lost message or a run that died. Does nothing for an unknown project.
 */
export const runPurge = async (projectId: string, withinMs?: number): Promise<void> => {
  const project = await findProjectById(projectId);
  if (!project) return;
  const begun = await begin(project);
  if (!begun) return;
  const { removed, complete } = await purge(project, withinMs);
  if (complete) await changeHeld(leasedPurges, begun, { $set: { trashDueAt: nextPurge() } });
  else if (project.placement.kind === 'managed') await queueTask({ task: 'purge-trash', projectId });
  if (removed > 0) log.info({ job: 'purge-trash', project: projectId, removed, complete });
};
