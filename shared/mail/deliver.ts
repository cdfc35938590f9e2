import { ObjectId } from 'mongodb';
import { ShortCache } from '../core/cache.ts';
import { clock } from '../core/clock.ts';
import { log, tryOrLog } from '../core/log.ts';
import { workFor } from '../core/request.ts';
import { acquire, type Leased, release } from '../persistence/lease.ts';
import { type MailLog, mailLogs } from './log.ts';
import { lostAfter, mailTries, mailVisibilitySeconds, retryDelay } from './queue.ts';
import { finalizeHeldSlots, heldSlots } from './quota.ts';
import { finishFailed, recordFailed, recordSent, submitMail } from './submit.ts';

/** Longer than one attempt, shorter than the visibility timeout of the queue. */
const leaseMs = 25_000;

/** Delay before the next round of attempts for an email that the provider may already have. */
const doubtSeconds = 3600;

/** The message is deleted, or becomes visible again after `retryIn` seconds. */
type Delivery = { readonly done: true } | { readonly done: false; readonly retryIn: number };

const done: Delivery = { done: true };

const leasedMails: Leased<MailLog> = { records: mailLogs, lease: 'job.leasedUntil', while: ['status'] };

/** `wasInDoubt`: an earlier run may have sent the email. */
interface Claim {
  readonly mail: MailLog;
  readonly wasInDoubt: boolean;
}

/** `undefined` if it is finished or held. The job stays in doubt until this run records the outcome. */
const claimMail = async (_id: ObjectId): Promise<Claim | undefined> => {
  const leasedUntil = new Date(clock.now() + leaseMs);
  const change = { $set: { 'job.lostAt': lostAfter(mailVisibilitySeconds), 'job.inDoubt': true } };
  const before = await acquire(leasedMails, { _id }, leasedUntil, change, 'before');
  if (!before?.job) return undefined;
  return { mail: { ...before, job: { ...before.job, leasedUntil } }, wasInDoubt: before.job.inDoubt === true };
};

/** Releases the job unless another run has claimed it. If an event has set the status meanwhile, that status stays. */
const releaseMail = async (mail: MailLog, inDoubt: boolean, reason: string, seconds: number): Promise<void> => {
  const job = { 'job.lostAt': lostAfter(seconds), 'job.inDoubt': inDoubt };
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
  // Only the provider knows whether it has an email in doubt, so its job is kept when the message is given up.
  if (inDoubt) await releaseMail(mail, true, outcome.reason, doubtSeconds);
  else await recordFailed(mail, outcome.reason);
  // Errors of a customer's own account do not belong in our dead-letter queue.
  return mail.usingByok ? done : { done: false, retryIn: 0 };
};

/** Projects and months whose held slots this process has checked recently. */
const checkedMonths = new ShortCache<number>(5 * 60_000, 1000);

/** Refunds slots that crashed runs left behind. */
const refundLostSlots = async ({ projectId, job }: MailLog): Promise<void> => {
  const month = job?.slot;
  if (projectId === null || month === undefined) return;
  const id = projectId.toHexString();
  await tryOrLog('warn', { job: 'deliver-mail', project: id }, () =>
    checkedMonths.get(`${id} ${month}`, async () => finalizeHeldSlots(await heldSlots(id, month, job?.shared?.owner))),
  );
};

/** Does what the status of the email requires. */
const processMail = async (claimed: Claim, tries: number): Promise<Delivery> => {
  const { mail } = claimed;
  if (mail.status === 'nobody') await mailLogs.deleteOne({ _id: mail._id, status: 'nobody' });
  else if (mail.status === 'failed' && mail.lastEventAt === undefined) await finishFailed(mail);
  else if (mail.status !== 'queued' || mail.lastEventAt) await recordSent(mail);
  else return attempt(claimed, tries);
  return done;
};

/**
 * Sends the email of a job; `tries` counts the deliveries of the queue message, this one included. One conditional
 * write gives the job to one run, and the provider deduplicates by its id. Permanent errors fail immediately and refund
 * the slot; temporary ones after the last try. An email that the provider may have is retried for 20 h.
 */
export const deliverMail = async (jobId: string, tries: number): Promise<Delivery> => {
  if (!ObjectId.isValid(jobId)) return done;
  const claimed = await claimMail(new ObjectId(jobId));
  if (!claimed) return done;
  workFor(claimed.mail.job?.requestId);
  const delivery = await processMail(claimed, tries);
  log.info({ job: 'deliver-mail', mail: jobId, tries, ...delivery });
  await refundLostSlots(claimed.mail);
  return delivery;
};
