import { ObjectId } from 'mongodb';
import { onControl } from '../../clients/mongo.ts';
import { AppError } from '../../errors.ts';
import { describeError, log } from '../../log.ts';
import { findProjectById } from '../../projects/find-project-by-id.ts';
import type { Project } from '../../projects/project.ts';
import type { ProjectRecord } from '../../projects/project-record.ts';
import { queueTask } from '../../work/work-queue.ts';
import { purgeProject } from './purge-project.ts';
import { nextPurge, purgeLease } from './purge-times.ts';
import type { Removal } from './remove-trashed.ts';

const setDue = (projectId: string, condition: Partial<ProjectRecord>, trashDueAt: Date): Promise<unknown> =>
  onControl((db) =>
    db
      .collection<ProjectRecord>('projects')
      .updateOne({ ...condition, _id: new ObjectId(projectId), state: 'active' }, { $set: { trashDueAt } }),
  );

/** An own database that is down or refuses is its owner's to fix: it is retried the next day. */
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
 * The task `purge-trash`: purges one project and sends itself on where that takes longer than a run. Until it has ended
 * the project stays due within the hour, so that a lost message or a run that died is made up for. Unknown project →
 * nothing.
 */
export const runPurge = async (projectId: string, withinMs?: number): Promise<void> => {
  const project = await findProjectById(projectId);
  if (!project) return;
  const lease = purgeLease();
  await setDue(projectId, {}, lease);
  const { removed, complete } = await purge(project, withinMs);
  if (complete) await setDue(projectId, { trashDueAt: lease }, nextPurge());
  else await queueTask({ task: 'purge-trash', projectId });
  if (removed > 0) log.info({ job: 'purge-trash', project: projectId, removed, complete });
};
