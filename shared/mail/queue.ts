import { clock, dayMs } from '../core/clock.ts';
import { mailQueueSettings, mailSettings } from '../core/config.ts';
import { log } from '../core/log.ts';
import { type PageJob, type Requeued, requeue, workThroughPages } from '../persistence/jobs.ts';
import { sendMessage, sendMessages, delayMessage as setDelay } from '../persistence/sqs.ts';
import { delayAfter } from '../persistence/work-queue.ts';
import { type MailJob, type MailLog, mailLogs } from './log.ts';
import type { QuotaReservation } from './quota.ts';

/** Puts the id of a mail job on the queue; 503 `SERVICE_UNAVAILABLE` if the queue did not accept it. */
export const enqueueJob = (jobId: string): Promise<void> => sendMessage(mailQueueSettings().MAIL_QUEUE_URL, jobId);

/** Puts up to ten ids on the queue in one call; returns how many it took. */
const enqueueJobs = (jobIds: readonly string[]): Promise<number> =>
  sendMessages(mailQueueSettings().MAIL_QUEUE_URL, jobIds);

/** Makes a message visible again after this many seconds, instead of when its visibility timeout ends. */
export const delayMessage = (receiptHandle: string, seconds: number): Promise<void> =>
  setDelay(mailQueueSettings().MAIL_QUEUE_URL, receiptHandle, seconds);

/** Parallel runs: the provider accepts few mails a second, and SQS allows no fewer than two. */
export const mailRuns = 2;

/** How often the queue hands a mail out before the message goes to the dead-letter queue. */
export const mailTries = 8;

/** Visibility timeout of the queue in seconds; longer than any run of the function. */
export const mailVisibilitySeconds = 180;

/** The longest that SQS lets a message wait. */
const maxDelaySeconds = 12 * 3600;

/** A message that is this late counts as lost. */
const patienceMs = 15 * 60_000;

/**
 * Seconds until the next try after the `tries`-th one failed: three times as long each time (by default 10 s, 30 s, … 2
 * h), up to half as much again by chance so that mails do not come back together, and never less than the provider
 * asked for.
 */
export const retryDelay = (tries: number, askedFor = 0): number => {
  const first = mailSettings().MAIL_RETRY_SECONDS * (1 + Math.random() / 2);
  const planned = delayAfter({ first, times: 3, most: maxDelaySeconds }, tries);
  return Math.min(maxDelaySeconds, Math.ceil(Math.max(planned, askedFor)));
};

/** When a mail counts as lost that the queue should hand out in `seconds`. */
export const whenLost = (seconds: number): Date => new Date(clock.now() + seconds * 1000 + patienceMs);

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

/** How long the log of a mail is kept. */
const keptMs = 90 * dayMs;

/** Logs that are old enough to go; the time is within the five minutes of the job, and before its next run begins. */
const oldLogs: PageJob<MailLog> = {
  records: mailLogs,
  dueAt: 'createdAt',
  due: () => ({ createdAt: { $lt: new Date(clock.now() - keptMs) } }),
  projection: { _id: 1 },
  page: 1000,
  step: async (logs) => {
    await mailLogs.deleteMany({ _id: { $in: logs.map(({ _id }) => _id) } });
    return logs.length;
  },
  limitMs: 3 * 60_000,
};

/** Removes logs of mails accepted more than 90 days ago; returns how many. */
export const retireLogs = async (): Promise<number> => {
  const retired = await workThroughPages(oldLogs);
  if (retired > 0) log.info({ job: 'requeue-mail', retired });
  return retired;
};

/** What a mail's job keeps of its slot, by the mail's id, so that it can be given back. */
export const jobSlot = ({ month, shared }: QuotaReservation, id: string): Pick<MailJob, 'slot' | 'shared'> => {
  if (!shared) return { slot: month };
  const { owner, day, recipients } = shared;
  return { slot: month, shared: { owner, recipients: recipients[id] ?? 0, ...(day !== undefined && { day }) } };
};

/** The slot that a mail holds, if it holds one. */
export const slotOf = ({ _id, projectId, job }: MailLog): QuotaReservation | undefined => {
  if (job?.slot === undefined || projectId === null) return undefined;
  const id = _id.toHexString();
  const { shared } = job;
  return {
    projectId: projectId.toHexString(),
    month: job.slot,
    ids: [id],
    ...(shared && { shared: { ...shared, recipients: { [id]: shared.recipients } } }),
  };
};
