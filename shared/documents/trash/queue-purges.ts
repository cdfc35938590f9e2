import { clock } from '../../core/clock.ts';
import { type ProjectRecord, projectRecords } from '../../projects/project-record.ts';
import { type Requeued, requeue } from '../../work/page-job.ts';
import { queueTasks } from '../../work/work-queue.ts';

/** A purge that was queued or begun, and has not ended by then, is queued again. */
export const purgeLease = (): Date => new Date(clock.now() + 3600_000);

/** Projects whose trash is due to be purged; those whose never was come before all. */
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

/** Puts every project whose trash is due to be purged on the work queue, one message each; returns how many. */
export const queuePurges = (): Promise<number> => requeue(duePurges);
