import type { ObjectId } from 'mongodb';
import { clock } from '../clock.ts';
import { log } from '../log.ts';
import { onMailJobs } from './mail-job.ts';
import { enqueueJobs, queueBatch } from './mail-queue.ts';
import { whenLost } from './retries.ts';

const batchesPerRun = 100;

/** Has every mail that waits to be sent count as lost: for a queue that has just begun empty. */
const loseAll = (now: Date): Promise<unknown> =>
  onMailJobs((jobs) => jobs.updateMany({ state: 'queued', lostAt: { $gt: now } }, { $set: { lostAt: now } }));

const lostJobs = (now: Date): Promise<ObjectId[]> =>
  onMailJobs(async (jobs) => {
    const found = await jobs
      .find(
        { state: 'queued', lostAt: { $lte: now } },
        { projection: { _id: 1 }, sort: { lostAt: 1 }, limit: queueBatch, maxTimeMS: 5000 },
      )
      .toArray();
    return found.map(({ _id }) => _id);
  });

/**
 * Puts mails that wait to be sent but that the queue seems to have lost onto it again, at most 1000 a run; with `queueIsEmpty`
 * every one that waits. A message too many does no harm. Answers how many were queued.
 */
export const requeueMail = async ({ queueIsEmpty = false } = {}): Promise<number> => {
  const now = new Date(clock.now());
  if (queueIsEmpty) await loseAll(now);
  let queued = 0;
  for (let batch = 0; batch < batchesPerRun; batch++) {
    const ids = await lostJobs(now);
    if (ids.length === 0) break;
    await onMailJobs((jobs) => jobs.updateMany({ _id: { $in: ids } }, { $set: { lostAt: whenLost(0) } }));
    const refused = await enqueueJobs(ids.map((id) => id.toHexString()));
    queued += ids.length - refused.length;
  }
  if (queued > 0) log.info({ job: 'requeue-mail', queued });
  return queued;
};
