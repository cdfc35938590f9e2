import { ObjectId } from 'mongodb';
import { clock, dayMs } from '../../core/clock.ts';
import { mapConcurrent } from '../../core/concurrency.ts';
import { log, logFailure } from '../../core/log.ts';
import { acquire, deleteHeld, reschedule } from '../../persistence/lease.ts';
import { databaseOf } from '../../persistence/mongo.ts';
import { isUnavailable } from '../../persistence/mongo-errors.ts';
import { findProjectById } from '../../projects/find-project.ts';
import type { Project } from '../../projects/project.ts';
import { deleteFilesOf } from '../files.ts';
import { finishRun, follow, newRun } from './cascade.ts';
import { type CascadeRecord, cascadeLease, cascadeRecords, leasedCascades, wakeCascades } from './cascade-records.ts';

/** Shorter than the limit of a worker, including the current batch. */
const runMs = 4 * 60_000;

/** A removal is abandoned if it fails for this long, for example because a database is down. */
const givenUpMs = 7 * dayMs;

/** Whether a removal is abandoned: the documents are now in another database, or it has failed for too long. */
const isGivenUp = (project: Project, { database, createdAt }: CascadeRecord): boolean =>
  database !== databaseOf(project) || createdAt.getTime() + givenUpMs < clock.now();

/** Follows a removal that this run holds. Returns after how many seconds the next run must look, if any. */
const followOne = async (project: Project, record: CascadeRecord, withinMs: number): Promise<number | undefined> => {
  if (isGivenUp(project, record)) {
    log.warn({ job: 'follow-references', project: project.id, collection: record.collection, was: 'given up' });
    await deleteHeld(leasedCascades, record);
    return undefined;
  }
  const run = newRun(project, Number.POSITIVE_INFINITY, withinMs, {
    deleteFiles: (_project, { collection, ids }, end) => deleteFilesOf(project, collection, ids, end),
  });
  await follow(run, record);
  return finishRun(run);
};

/**
 * The task `follow-references`: follows the due removals of a project one by one, for at most four minutes, and
 * sends itself again if some are left. A failed one stays due and does not stop the others; its error is thrown at
 * the end, so that the message is delivered again. Does nothing for an unknown project.
 */
export const runCascades = async (projectId: string, withinMs = runMs): Promise<void> => {
  const project = await findProjectById(projectId);
  if (!project) return;
  const end = clock.now() + withinMs;
  const failures: unknown[] = [];
  const failed: ObjectId[] = [];
  let next: number | undefined;
  while (clock.now() < end) {
    const open = { projectId: new ObjectId(projectId), _id: { $nin: failed } };
    const record = await acquire(leasedCascades, open, cascadeLease(), {});
    if (!record) break;
    try {
      const seconds = await followOne(project, record, end - clock.now());
      if (seconds !== undefined) next = Math.min(next ?? seconds, seconds);
    } catch (error) {
      failures.push(error);
      failed.push(record._id);
      await reschedule(leasedCascades, record).catch(() => undefined);
      logFailure({ job: 'follow-references', project: projectId, collection: record.collection }, error);
      if (isUnavailable(error)) break;
    }
  }
  if (next !== undefined) await wakeCascades(projectId, next);
  if (failures.length > 0) throw failures[0];
};

const projectsAtOnce = 100;

/** Wakes the task for due removals without a message. Returns the number of projects. */
export const wakeDueCascades = async (): Promise<number> => {
  const due = await cascadeRecords.aggregate<{ readonly _id: ObjectId }>([
    { $match: { dueAt: { $lte: new Date(clock.now()) } } },
    { $group: { _id: '$projectId' } },
    { $limit: projectsAtOnce },
  ]);
  await mapConcurrent(due, 5, ({ _id }) => wakeCascades(_id.toHexString(), 0));
  return due.length;
};
