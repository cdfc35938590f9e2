import { ObjectId } from 'mongodb';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { describeError, log } from '../../core/log.ts';
import { findProjectById } from '../../projects/find-project-by-id.ts';
import type { Project } from '../../projects/project.ts';
import type { Removal } from '../../projects/project-items.ts';
import { type ProjectRecord, projectRecords } from '../../projects/project-record.ts';
import { changeHeld, type Leased } from '../../work/lease.ts';
import { queueTask } from '../../work/work-queue.ts';
import { purgeProject } from './purge-project.ts';
import { purgeLease } from './queue-purges.ts';

/** When a project is looked through next: a little less than a day, so that an hourly schedule keeps to the day. */
const nextPurge = (): Date => new Date(clock.now() + 23 * 3600_000);

/** A purge that has been asked for meanwhile, as of a trash that is to be emptied, is not taken for done. */
const leasedPurges: Leased<ProjectRecord> = { records: projectRecords, lease: 'trashDueAt', while: ['state'] };

/**
 * Keeps the project due within the hour; returns it as it is then. `null` where its own database was seen to within the
 * last one: how long that takes is up to whoever runs it, and the runs of the queue are everybody's.
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
 * The task `purge-trash`: purges one project and sends itself on where that takes longer than a run; what is left in an
 * own database waits for the schedule. Until it has ended the project stays due within the hour, so that a lost message
 * or a run that died is made up for. Unknown project → nothing.
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
