import { clock } from '../core/clock.ts';
import { log } from '../core/log.ts';
import { inLanes } from '../work/in-lanes.ts';
import type { DueQueue } from './due-entries.ts';
import { daysBetween, doneUntil, dueIn, setDoneUntil } from './due-queue.ts';
import { Settlement } from './settle-entries.ts';

/**
 * Of the 15 minutes of a run; a page of paths that is begun by then takes less than one, whatever their storages do.
 */
const runMs = 13 * 60_000;

/** What a run is to do, and what is left when its time is up. */
interface Run {
  readonly settlement: Settlement;
  readonly now: number;
  /** By the clock of the process. */
  readonly end: number;
  /** When the oldest was due that there was no time for. */
  oldest: number;
}

const sweepPartition = async (partition: string, run: Run): Promise<void> => {
  for await (const entries of dueIn(partition, run.now)) {
    if (performance.now() >= run.end) {
      run.oldest = Math.min(run.oldest, entries[0]?.due ?? run.now);
      return;
    }
    await run.settlement.settle(entries);
  }
};

/** Goes through a queue day by day, the partitions of a day side by side; what is done need not be looked at again. */
const sweepQueue = async (queue: DueQueue, run: Run): Promise<void> => {
  for (const { partitions, end } of daysBetween(queue, await doneUntil(queue, run.now), run.now)) {
    await inLanes(partitions, partitions.length, (partition) => sweepPartition(partition, run));
    if (run.oldest < run.now) return;
    await setDoneUntil(queue, end, run.now);
  }
};

/**
 * Settles what is due of uploads: requests of a day ago that nobody confirmed expire and give back what they had
 * reserved; what was uploaded and is not, or no longer, a file is removed. The longest overdue come first, until
 * nothing is due or 13 minutes have passed; a run that is cut short is carried on by the next one. Returns how many
 * paths it settled; `behindMinutes` in the log is how long the oldest has been due that there was no time for.
 */
export const sweepUploads = async (limitMs = runMs): Promise<number> => {
  const now = clock.now();
  const settlement = new Settlement();
  const end = performance.now() + limitMs;
  const runs = (['managed', 'external'] as const).map((queue) => ({
    queue,
    run: { settlement, now, end, oldest: now } satisfies Run,
  }));
  await inLanes(runs, runs.length, ({ queue, run }) => sweepQueue(queue, run));
  const oldest = Math.min(...runs.map(({ run }) => run.oldest));
  const { settled, postponed } = settlement;
  const behindMinutes = Math.round((now - oldest) / 60_000);
  if (settled + postponed + behindMinutes > 0) {
    log.info({ job: 'sweep-uploads', settled, postponed, behindMinutes });
  }
  return settled;
};
