import type { ObjectId } from 'mongodb';
import { queueBatch } from '../clients/queue-messages.ts';
import { clock } from '../clock.ts';
import { log } from '../log.ts';
import { onMailLogs } from './mail-log.ts';
import { enqueueJobs } from './mail-queue.ts';
import { whenLost } from './retries.ts';

const batchesPerRun = 100;

/** Has every mail that waits to be sent count as lost: for a queue that has just begun empty. */
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
 * Puts mails about which something is to be done but that the queue seems to have lost onto it again, at most 1000 a
 * run; with `queueIsEmpty` every one that waits to be sent. A message too many does no harm. Answers how many were
 * queued.
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
