import { clock, dayMs } from '../core/clock.ts';
import { mailQueueSettings, mailSettings } from '../core/config.ts';
import { log, tryOrLog } from '../core/log.ts';
import { type PageJob, type Requeued, requeue, workThroughPages } from '../persistence/jobs.ts';
import { sendMessage, sendMessages, delayMessage as setDelay } from '../persistence/sqs.ts';
import { delayAfter } from '../persistence/work-queue.ts';
import { type MailJob, type MailLog, mailLogs } from './log.ts';
import type { QuotaReservation } from './quota.ts';

/** Throws 503 `SERVICE_UNAVAILABLE` if the queue does not accept the id. */
export const enqueueJob = (jobId: string): Promise<void> => sendMessage(mailQueueSettings().MAIL_QUEUE_URL, jobId);

/** If the queue does not accept the id, `requeue-mail` finds the email. */
export const enqueue = (id: string): Promise<boolean> =>
  tryOrLog('error', { message: 'The queue did not accept an email, which will be late', mail: id }, () =>
    enqueueJob(id),
  );

/** Up to ten ids; returns how many the queue accepted. */
const enqueueJobs = (jobIds: readonly string[]): Promise<number> =>
  sendMessages(mailQueueSettings().MAIL_QUEUE_URL, jobIds);

export const delayMessage = (receiptHandle: string, seconds: number): Promise<void> =>
  setDelay(mailQueueSettings().MAIL_QUEUE_URL, receiptHandle, seconds);

/** Few, because the provider accepts few emails per second; SQS requires at least two. */
export const mailRuns = 2;

/** Deliveries before a message goes to the dead-letter queue. */
export const mailTries = 8;

/** Longer than any run of the function. */
export const mailVisibilitySeconds = 180;

/** Limit of SQS. */
const maxDelaySeconds = 12 * 3600;

/** A message that is later counts as lost. */
const patienceMs = 15 * 60_000;

/** 10 s, 30 s, … 2 h by default, plus up to half at random, and at least what the provider asked for. */
export const retryDelay = (tries: number, askedFor = 0): number => {
  const first = mailSettings().MAIL_RETRY_SECONDS * (1 + Math.random() / 2);
  const planned = delayAfter({ first, times: 3, most: maxDelaySeconds }, tries);
  return Math.min(maxDelaySeconds, Math.ceil(Math.max(planned, askedFor)));
};

/** When an email counts as lost whose message should be delivered after `seconds`. */
export const lostAfter = (seconds: number): Date => new Date(clock.now() + seconds * 1000 + patienceMs);

const lostMails: Requeued<MailLog> = {
  name: 'requeue-mail',
  records: mailLogs,
  dueAt: 'job.lostAt',
  due: () => ({ 'job.lostAt': { $lte: new Date(clock.now()) } }),
  open: { job: { $exists: true } },
  send: enqueueJobs,
  lostAt: () => lostAfter(0),
  limitMs: 60_000,
};

/** For a queue that was recreated empty. */
const loseAll = (now: Date): Promise<unknown> =>
  mailLogs.updateMany(
    { 'job.lostAt': { $gt: now }, 'job.content': { $exists: true } },
    { $set: { 'job.lostAt': now, 'job.leasedUntil': new Date(0) } },
  );

/** Enqueues lost emails again; with `queueIsEmpty` all pending ones. Returns how many. */
export const requeueMail = async ({ queueIsEmpty = false } = {}): Promise<number> => {
  if (queueIsEmpty) await loseAll(new Date(clock.now()));
  return requeue(lostMails);
};

const keptMs = 90 * dayMs;

/** Within the 5 minutes of the job. */
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

/** Deletes logs of emails accepted over 90 days ago. Returns how many. */
export const deleteOldLogs = async (): Promise<number> => {
  const retired = await workThroughPages(oldLogs);
  if (retired > 0) log.info({ job: 'requeue-mail', retired });
  return retired;
};

export const jobSlot = ({ month, shared }: QuotaReservation, id: string): Pick<MailJob, 'slot' | 'shared'> => {
  if (!shared) return { slot: month };
  const { owner, day, recipients } = shared;
  return { slot: month, shared: { owner, recipients: recipients[id] ?? 0, ...(day !== undefined && { day }) } };
};

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
