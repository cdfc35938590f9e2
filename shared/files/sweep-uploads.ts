import { clock } from '../core/clock.ts';
import { log } from '../core/log.ts';
import { inLanes, type Job, type Worked, workThrough } from '../work/job.ts';
import { type DueEntry, type DueQueue, dueUploads, shards } from './due-uploads.ts';
import { Settlement } from './settle-entries.ts';

/** Of the 15 minutes of a run; a page of paths that is begun by then takes less than one. */
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
 * Settles what is due of uploads: requests that nobody confirmed in a day expire and give back what they had reserved;
 * what was uploaded and is no file is removed. The longest overdue come first, for 13 minutes; the next run carries on.
 * Returns how many paths it settled; `behindMinutes` in the log: for how long the oldest is overdue.
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
