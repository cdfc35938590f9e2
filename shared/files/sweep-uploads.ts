import { clock } from '../core/clock.ts';
import { log } from '../core/log.ts';
import { inLanes } from '../work/in-lanes.ts';
import { type Job, type Worked, workThrough } from '../work/job.ts';
import { type DueEntry, type DueQueue, shards } from './due-entries.ts';
import { dueUploads } from './due-queue.ts';
import { Settlement } from './settle-entries.ts';

/**
 * Of the 15 minutes of a run; a page of paths that is begun by then takes less than one, whatever their storages do.
 */
const runMs = 13 * 60_000;

const queues: readonly DueQueue[] = ['managed', 'external'];

/** What is due in one of the queues when it begins, a page of paths at a time. */
const sweepOf = (queue: DueQueue, settlement: Settlement, limitMs: number): Job<readonly DueEntry[]> => {
  const now = clock.now();
  return {
    due: () => dueUploads(queue, now),
    dueAt: ([first]) => first?.due ?? now,
    step: (entries) => settlement.settle(entries),
    pace: { lanes: shards, limitMs },
  };
};

/**
 * Settles what is due of uploads: requests of a day ago that nobody confirmed expire and give back what they had
 * reserved; what was uploaded and is not, or no longer, a file is removed. The longest overdue come first, until
 * nothing is due or 13 minutes have passed; a run that is cut short is carried on by the next one. Returns how many
 * paths it settled; `behindMinutes` in the log is how long the oldest has been due that there was no time for.
 */
export const sweepUploads = async (limitMs = runMs): Promise<number> => {
  const settlement = new Settlement();
  const worked: Worked[] = [];
  await inLanes(queues, queues.length, async (queue) => {
    worked.push(await workThrough(sweepOf(queue, settlement, limitMs)));
  });
  const settled = worked.reduce((sum, { done }) => sum + done, 0);
  const behindMinutes = Math.max(...worked.map((one) => one.behindMinutes));
  const { postponed } = settlement;
  if (settled + postponed + behindMinutes > 0) {
    log.info({ job: 'sweep-uploads', settled, postponed, behindMinutes });
  }
  return settled;
};
