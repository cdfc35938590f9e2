import type { ObjectId } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';
import { clock } from '../../core/clock.ts';
import { log } from '../../core/log.ts';
import type { ProjectRecord } from '../../projects/project-record.ts';
import { queueTasks, taskBatch } from '../../work/work-queue.ts';
import { purgeLease } from './purge-times.ts';

/** Shorter than the function may run. */
const runMs = 10 * 60_000;

/** Projects whose purge is due, the most overdue first; those that never had one come before all. */
const dueProjects = (): Promise<ObjectId[]> =>
  onControl(async (db) => {
    const found = await db
      .collection<ProjectRecord>('projects')
      .find(
        { state: 'active', trashDueAt: { $not: { $gt: new Date(clock.now()) } } },
        { projection: { _id: 1 }, sort: { trashDueAt: 1 }, limit: taskBatch, maxTimeMS: 5000 },
      )
      .toArray();
    return found.map(({ _id }) => _id);
  });

/** A message too many does no harm, so projects are marked once their messages are on the queue. */
const markQueued = (ids: readonly ObjectId[]): Promise<unknown> =>
  onControl((db) =>
    db
      .collection<ProjectRecord>('projects')
      .updateMany({ _id: { $in: ids }, state: 'active' }, { $set: { trashDueAt: purgeLease() } }),
  );

/**
 * Puts every project whose trash is due to be purged on the work queue, one message each; costs one indexed query where
 * none is. Stops where the queue refuses one; the next run carries on. Returns how many were queued.
 */
export const queuePurges = async (): Promise<number> => {
  const deadline = clock.now() + runMs;
  let queued = 0;
  while (clock.now() < deadline) {
    const ids = await dueProjects();
    if (ids.length === 0) break;
    const taken = await queueTasks(ids.map((id) => ({ task: 'purge-trash', projectId: id.toHexString() })));
    if (taken < ids.length) break;
    await markQueued(ids);
    queued += taken;
  }
  if (queued > 0) log.info({ job: 'purge-trash', queued });
  return queued;
};
