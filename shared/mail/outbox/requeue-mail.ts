import { clock } from '../../core/clock.ts';
import { type Requeued, requeue } from '../../work/page-job.ts';
import { type MailLog, mailLogs } from '../mail-log.ts';
import { enqueueJobs } from './mail-queue.ts';
import { whenLost } from './retries.ts';

/** Mails that are not done with, and that the queue seems to have lost. */
const lostMails: Requeued<MailLog> = {
  name: 'requeue-mail',
  records: mailLogs,
  dueAt: 'job.lostAt',
  due: () => ({ 'job.lostAt': { $lte: new Date(clock.now()) } }),
  open: { job: { $exists: true } },
  send: enqueueJobs,
  lostAt: () => whenLost(0),
  limitMs: 60_000,
};

/** Marks every waiting mail as lost: for a queue that has just been created empty. */
const loseAll = (now: Date): Promise<unknown> =>
  mailLogs.updateMany(
    { 'job.lostAt': { $gt: now }, 'job.content': { $exists: true } },
    { $set: { 'job.lostAt': now, 'job.leasedUntil': new Date(0) } },
  );

/** Puts mails back on the queue that it seems to have lost; with `queueIsEmpty` every waiting one. */
export const requeueMail = async ({ queueIsEmpty = false } = {}): Promise<number> => {
  if (queueIsEmpty) await loseAll(new Date(clock.now()));
  return requeue(lostMails);
};
