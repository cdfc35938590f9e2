import type { ObjectId } from 'mongodb';
import { queueBatch } from '../../clients/queue-messages.ts';
import { clock } from '../../core/clock.ts';
import { log } from '../../core/log.ts';
import { onMailLogs } from '../mail-log.ts';
import { enqueueJobs } from './mail-queue.ts';
import { whenLost } from './retries.ts';

const batchesPerRun = 100;

/** Marks every waiting mail as lost: for a queue that has just been created empty. */
const loseAll = (now: Date): Promise<unknown> =>
  onMailLogs((logs) =>
    logs.updateMany(
      { 'job.lostAt': { $gt: now }, 'job.content': { $exists: true } },
      { $set: { 'job.lostAt': now, 'job.leasedUntil': new Date(0) } },
    ),
  );

const lostJobs = (now: Date): Promise<ObjectId[]> =>
  onMailLogs(async (logs) => {
    const found = await logs
      .find(
        { 'job.lostAt': { $lte: now } },
        { projection: { _id: 1 }, sort: { 'job.lostAt': 1 }, limit: queueBatch, maxTimeMS: 5000 },
      )
      .toArray();
    return found.map(({ _id }) => _id);
  });

/**
 * Puts unfinished mails that the queue seems to have lost back on it, at most 1000 per run; with `queueIsEmpty` every
 * waiting one. An extra message does no harm. Returns how many were queued.
 */
export const requeueMail = async ({ queueIsEmpty = false } = {}): Promise<number> => {
  const now = new Date(clock.now());
  if (queueIsEmpty) await loseAll(now);
  let queued = 0;
  for (let batch = 0; batch < batchesPerRun; batch++) {
    const ids = await lostJobs(now);
    if (ids.length === 0) break;
    await onMailLogs((logs) =>
      logs.updateMany({ _id: { $in: ids }, job: { $exists: true } }, { $set: { 'job.lostAt': whenLost(0) } }),
    );
    const refused = await enqueueJobs(ids.map((id) => id.toHexString()));
    queued += ids.length - refused.length;
  }
  if (queued > 0) log.info({ job: 'requeue-mail', queued });
  return queued;
};
