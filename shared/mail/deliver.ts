import { ObjectId } from 'mongodb';
import { ShortCache } from '../core/cache.ts';
import { clock } from '../core/clock.ts';
import { log, tryOrLog, workFor } from '../core/log.ts';
import { acquire, type Leased, release } from '../persistence/lease.ts';
import { type MailLog, mailLogs } from './log.ts';
import { mailTries, mailVisibilitySeconds, retryDelay, whenLost } from './queue.ts';
import { finalizeHeldSlots, heldSlots } from './quota.ts';
import { finishFailed, recordFailed, recordSent, submitMail } from './submit.ts';

/** Longer than one attempt, shorter than the visibility timeout of the queue. */
const leaseMs = 25_000;

/** Delay before the next round of attempts for a mail that the provider may already have. */
const doubtSeconds = 3600;

/** What happens to the message: it is deleted, or becomes visible again in `retryIn` seconds. */
type Delivery = { readonly done: true } | { readonly done: false; readonly retryIn: number };

const done: Delivery = { done: true };

const leasedMails: Leased<MailLog> = { records: mailLogs, lease: 'job.leasedUntil', while: ['status'] };

/** A job that this run holds; `wasInDoubt`: an earlier run may have sent the mail. */
interface Claim {
  readonly mail: MailLog;
  readonly wasInDoubt: boolean;
}

/**
 * Claims the job for this run; `undefined` if it is finished, or another run holds it, whose message then decides. The
 * job is in doubt from now until the run reports the outcome.
 */
const claimMail = async (_id: ObjectId): Promise<Claim | undefined> => {
  const leasedUntil = new Date(clock.now() + leaseMs);
  const change = { $set: { 'job.lostAt': whenLost(mailVisibilitySeconds), 'job.inDoubt': true } };
  const before = await acquire(leasedMails, { _id }, leasedUntil, change, 'before');
  if (!before?.job) return undefined;
  return { mail: { ...before, job: { ...before.job, leasedUntil } }, wasInDoubt: before.job.inDoubt === true };
};

/**
 * Releases the job, unless another run has taken it over. If an event has told of the mail meanwhile, what it said
 * stays, and the next try finds nothing to do but to end the job.
 */
const releaseMail = async (mail: MailLog, inDoubt: boolean, reason: string, seconds: number): Promise<void> => {
  const job = { 'job.lostAt': whenLost(seconds), 'job.inDoubt': inDoubt };
  const isAsItWas = await release(leasedMails, mail, { $set: { ...job, reason, updatedAt: new Date(clock.now()) } });
  if (!isAsItWas) await release({ ...leasedMails, while: [] }, mail, { $set: job });
};

const attempt = async ({ mail, wasInDoubt }: Claim, tries: number): Promise<Delivery> => {
  const { outcome, subject } = await submitMail(mail);
  if (outcome.kind === 'accepted') {
    const { providerId } = outcome;
    await recordSent(mail, {
      ...(providerId !== undefined && { providerEmailId: providerId }),
      ...(subject !== undefined && { subject }),
    });
    return done;
  }
  if (outcome.kind === 'refused') {
    await recordFailed(mail, outcome.reason);
    return done;
  }
  const inDoubt = wasInDoubt || outcome.maybeTaken;
  if (tries < mailTries) {
    const retryIn = retryDelay(tries, outcome.afterSeconds);
    await releaseMail(mail, inDoubt, outcome.reason, retryIn);
    return { done: false, retryIn };
  }
  // Only the provider can tell whether it has a mail in doubt, so such a mail is kept when its message is given up.
  if (inDoubt) await releaseMail(mail, true, outcome.reason, doubtSeconds);
  else await recordFailed(mail, outcome.reason);
  // What a project's own account does not take is no dead letter of ours.
  return mail.usingByok ? done : { done: false, retryIn: 0 };
};

/** Projects and months whose held slots this process has checked recently. */
const lookedThrough = new ShortCache<number>(5 * 60_000, 1000);

/** Occasionally returns slots that crashes left held; failing to do so is only logged. */
const tidySlots = async ({ projectId, job }: MailLog): Promise<void> => {
  const month = job?.slot;
  if (projectId === null || month === undefined) return;
  const id = projectId.toHexString();
  await tryOrLog('warn', { job: 'deliver-mail', project: id }, () =>
    lookedThrough.get(`${id} ${month}`, async () => finalizeHeldSlots(await heldSlots(id, month, job?.shared?.owner))),
  );
};

/** Completes whatever the state of the mail requires, if anything. */
const settle = async (claimed: Claim, tries: number): Promise<Delivery> => {
  const { mail } = claimed;
  if (mail.status === 'nobody') await mailLogs.deleteOne({ _id: mail._id, status: 'nobody' });
  else if (mail.status === 'failed' && mail.lastEventAt === undefined) await finishFailed(mail);
  else if (mail.status !== 'queued' || mail.lastEventAt) await recordSent(mail);
  else return attempt(claimed, tries);
  return done;
};

/**
 * Tries to send the mail of a job; `tries` counts how often the queue has handed the message out, this time included.
 * Sent mails are never sent again: one conditional write gives a run the job, and the provider knows its id (contract
 * 5, "Delivery"). What is refused for good fails at once and gives its slot back, what is postponed does so after the
 * last try, unless the provider may have the mail: that one is tried until there is an answer, for 20 h.
 */
export const deliverMail = async (jobId: string, tries: number): Promise<Delivery> => {
  if (!ObjectId.isValid(jobId)) return done;
  const claimed = await claimMail(new ObjectId(jobId));
  if (!claimed) return done;
  workFor(claimed.mail.job?.requestId);
  const delivery = await settle(claimed, tries);
  log.info({ job: 'deliver-mail', mail: jobId, tries, ...delivery });
  await tidySlots(claimed.mail);
  return delivery;
};
