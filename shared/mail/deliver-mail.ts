import { ObjectId } from 'mongodb';
import { type SendOutcome, sendMail } from '../clients/resend.ts';
import { clock } from '../clock.ts';
import { mailSettings } from '../config.ts';
import { describeError, log } from '../log.ts';
import { open } from '../secrets/sealed.ts';
import { type MailJob, onMailJobs } from './mail-job.ts';
import { renderMail } from './render-mail.ts';
import { mailTries, mailVisibilitySeconds, retryDelay, whenLost } from './retries.ts';
import { senderOf } from './sender.ts';

/** Longer than one try takes, shorter than the queue keeps the message back. */
const leaseMs = 60_000;

/** The provider knows a mail again for 24 h; a try after that could send it twice. */
const longestMs = 20 * 3600_000;

/** What the queue should do with the message: forget it, or hand it out again in `retryIn` seconds. */
export type Delivery = { readonly done: true } | { readonly done: false; readonly retryIn: number };

const done: Delivery = { done: true };

/** Gives this run the job to itself; `null` where it is done with, or another run has it, whose message then decides. */
const claim = (_id: ObjectId): Promise<MailJob | null> => {
  const now = clock.now();
  return onMailJobs((jobs) =>
    jobs.findOneAndUpdate(
      { _id, state: 'queued', leasedUntil: { $lte: new Date(now) } },
      { $set: { leasedUntil: new Date(now + leaseMs), lostAt: whenLost(mailVisibilitySeconds) } },
      { returnDocument: 'after' },
    ),
  );
};

/** Forgets a job that nobody was to have. */
const forgetNobody = (_id: ObjectId): Promise<unknown> =>
  onMailJobs((jobs) => jobs.deleteOne({ _id, state: 'nobody' }));

const markSent = async ({ _id }: MailJob, providerId: string | undefined): Promise<void> => {
  const sent = { state: 'sent' as const, updatedAt: new Date(clock.now()), ...(providerId && { providerId }) };
  await onMailJobs((jobs) => jobs.updateOne({ _id }, { $set: sent, $unset: { variables: '', failure: '' } }));
};

const markFailed = async ({ _id }: MailJob, failure: string): Promise<void> => {
  const failed = { state: 'failed' as const, failure, updatedAt: new Date(clock.now()) };
  await onMailJobs((jobs) => jobs.updateOne({ _id, state: 'queued' }, { $set: failed, $unset: { variables: '' } }));
  log.warn({ job: 'deliver-mail', mail: _id.toHexString(), failure });
};

/** Gives the job back to the queue, unless another run has taken it over meanwhile. */
const giveBack = async ({ _id, leasedUntil }: MailJob, failure: string, seconds: number): Promise<void> => {
  const waiting = { leasedUntil: new Date(0), lostAt: whenLost(seconds), failure, updatedAt: new Date(clock.now()) };
  await onMailJobs((jobs) => jobs.updateOne({ _id, state: 'queued', leasedUntil }, { $set: waiting }));
};

const send = async (job: MailJob): Promise<SendOutcome> => {
  const id = job._id.toHexString();
  const variables = JSON.parse(await open(job.variables ?? '', id)) as Record<string, string>;
  const from = senderOf(job.siteName, mailSettings().EMAIL_FROM);
  return sendMail({ from, to: job.to, ...renderMail(job.template, job.siteName, variables) }, id);
};

const attempt = async (job: MailJob): Promise<SendOutcome> => {
  if (clock.now() - job.createdAt.getTime() > longestMs) return { kind: 'refused', reason: 'Not accepted in time' };
  try {
    return await send(job);
  } catch (error) {
    log.error({ job: 'deliver-mail', mail: job._id.toHexString(), error: describeError(error) });
    return { kind: 'postponed', reason: 'The mail could not be prepared', afterSeconds: 0 };
  }
};

/**
 * Tries to send the mail of a job; `tries` counts how often the queue has handed the message out, this time included. Sent
 * mails are never sent again: one conditional write gives a run the job, and the provider knows its id (contract 5,
 * "Delivery"). What is refused for good fails at once, what is postponed after the last try.
 */
export const deliverMail = async (jobId: string, tries: number): Promise<Delivery> => {
  if (!ObjectId.isValid(jobId)) return done;
  const job = await claim(new ObjectId(jobId));
  if (!job) {
    await forgetNobody(new ObjectId(jobId));
    return done;
  }
  const outcome = await attempt(job);
  if (outcome.kind === 'accepted') {
    await markSent(job, outcome.providerId);
    return done;
  }
  if (outcome.kind === 'refused') {
    await markFailed(job, outcome.reason);
    return done;
  }
  if (tries >= mailTries) {
    await markFailed(job, outcome.reason);
    return { done: false, retryIn: 0 };
  }
  const retryIn = retryDelay(tries, outcome.afterSeconds);
  await giveBack(job, outcome.reason, retryIn);
  return { done: false, retryIn };
};
