import { setTimeout as pause } from 'node:timers/promises';
import type { Document } from 'mongodb';
import { setBounded } from '../core/cache.ts';
import { clock } from '../core/clock.ts';
import { mailSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { describeError, log } from '../core/log.ts';
import { type OutgoingMail, postMail, type SendOutcome, sharedProviderKey } from '../outbound/resend.ts';
import { findProjectById } from '../projects/find-project.ts';
import { checkContent } from './check-mail.ts';
import { customerProviderKey, fromOf, type JobContent, openContent, renderAccountMail } from './content.ts';
import { type MailLog, mailLogs, mailTag } from './log.ts';
import { mailRuns, slotOf } from './queue.ts';
import { confirmQuota, refundQuota } from './quota.ts';
import { receiversOf } from './suppressions.ts';
import { renderTemplate } from './templates/render.ts';
import { findAnyTemplate } from './templates/templates.ts';

/** Longest wait of a run; for a longer one the message goes back to the queue. */
const maxWaitMs = 3000;

/** Account at the provider → earliest time of its next email, by `performance.now()`. */
const nextSends = new Map<string, number>();
const maxAccounts = 1000;

const setNextSend = (account: string, time: number): void => setBounded(nextSends, account, time, maxAccounts);

/** Milliseconds between two emails of one run, so that all parallel runs together stay within the provider's limit. */
const spacingMs = (): number => {
  const { MAIL_PER_SECOND } = mailSettings();
  return MAIL_PER_SECOND === 0 ? 0 : (1000 * mailRuns) / MAIL_PER_SECOND;
};

/** Waits for the account's turn and returns 0, or returns the seconds if that is too long. */
export const waitForRateLimit = async (account: string): Promise<number> => {
  const now = performance.now();
  const turn = Math.max(now, nextSends.get(account) ?? 0);
  if (turn - now > maxWaitMs) return Math.ceil((turn - now) / 1000);
  setNextSend(account, turn + spacingMs());
  if (turn > now) await pause(turn - now);
  return 0;
};

/** Upper bound for what the provider asks for. */
const maxPauseMs = 300_000;

export const pauseAccount = (account: string, seconds: number): void => {
  const hold = Math.min(seconds * 1000, maxPauseMs);
  setNextSend(account, Math.max(performance.now() + hold, nextSends.get(account) ?? 0));
};

/** The provider deduplicates an email for 24 h; a later attempt could send it twice. */
const maxAgeMs = 20 * 3600_000;

/** `subject` as it was sent. */
interface Submission {
  readonly outcome: SendOutcome;
  readonly subject?: string;
}

interface Account {
  readonly name: string;
  readonly apiKey: string;
  /** `null` for our own address with the site's name. */
  readonly from: string | null;
}

const rejected = (reason: string): Submission => ({ outcome: { kind: 'refused', reason } });

const postponed = (reason: string, afterSeconds: number): Submission => ({
  outcome: { kind: 'postponed', reason, afterSeconds, maybeTaken: false },
});

/** The account chosen when the email was accepted: another one would not recognise a duplicate. */
const accountOf = async ({ projectId, usingByok }: MailLog): Promise<Account | undefined> => {
  if (!usingByok) return { name: 'shared', apiKey: await sharedProviderKey(), from: null };
  const project = projectId && (await findProjectById(projectId.toHexString()));
  const apiKey = project && (await customerProviderKey(project));
  return apiKey ? { name: project.id, apiKey, from: project.providerFromEmail } : undefined;
};

/** The words of an email. Throws 404 `TEMPLATE_NOT_FOUND`, 400 `INVALID_MAIL` for a template that an effect names. */
const writtenBy = async ({ projectId, usingByok }: MailLog, content: JobContent) => {
  if (content.kind === 'written') return content;
  const { siteName } = content;
  const id = projectId?.toHexString() ?? null;
  if (content.kind === 'account') {
    // The shared key only sends built-in templates, so that nobody can send their own text to any address that signs up.
    const wordsOf = usingByok ? id : null;
    const rendered = await renderAccountMail({ wordsOf, template: content.template, siteName }, content.variables);
    return { ...rendered, replyTo: [] };
  }
  const template = await findAnyTemplate({ id: id ?? '', name: siteName }, content.template);
  return { ...checkContent(renderTemplate(template, content.variables)), replyTo: [] };
};

const compose = async (mail: MailLog, sealed: string, account: Account): Promise<OutgoingMail> => {
  const content = await openContent(sealed, mail._id);
  const written = await writtenBy(mail, content);
  const [to = []] = mail.projectId === null ? [mail.to] : await receiversOf(mail.projectId.toHexString(), [mail]);
  return {
    from: fromOf(account.from, content.siteName),
    to,
    replyTo: written.replyTo,
    subject: written.subject,
    html: written.html,
    text: written.text,
    tags: { [mailTag]: mail._id.toHexString() },
  };
};

const submit = async (mail: MailLog, sealed: string): Promise<Submission> => {
  const account = await accountOf(mail);
  if (!account) return rejected('The project no longer has its own mail provider key');
  const outgoing = await compose(mail, sealed, account);
  if (outgoing.to.length === 0) return rejected('suppressed');
  const wait = await waitForRateLimit(account.name);
  if (wait > 0) return postponed('The provider accepts no more emails at the moment', wait);
  const outcome = await postMail(account.apiKey, outgoing, mail._id.toHexString());
  if (outcome.kind === 'postponed' && outcome.afterSeconds > 0) pauseAccount(account.name, outcome.afterSeconds);
  return { outcome, subject: outgoing.subject };
};

/** Errors that a retry meets too. */
const finalCodes: ReadonlySet<string> = new Set(['NOT_SET_UP', 'TEMPLATE_NOT_FOUND', 'INVALID_MAIL']);

/** Makes one attempt to send the email of an acquired job. Never throws. */
export const submitMail = async (mail: MailLog): Promise<Submission> => {
  const sealed = mail.job?.content;
  if (sealed === undefined) return rejected('The provider did not say whether it accepted the email');
  if (clock.now() - mail.createdAt.getTime() > maxAgeMs) return rejected('Not accepted in time');
  try {
    return await submit(mail, sealed);
  } catch (error) {
    if (error instanceof AppError && finalCodes.has(error.code)) return rejected(error.message);
    log.error({ job: 'deliver-mail', mail: mail._id.toHexString(), error: describeError(error) });
    return postponed('The mail could not be prepared', 0);
  }
};

interface Acceptance {
  readonly providerEmailId?: string;
  readonly subject?: string;
}

/** An event that arrived before the provider's response is newer, so its value is kept. */
const unlessEvent = (value: unknown, otherwise: string) => ({
  $cond: [{ $eq: [{ $type: '$lastEventAt' }, 'missing'] }, value, otherwise],
});

/** Update for an email that the provider has; `known` has further fields, as expressions. */
export const sentChange = (known: Document): Document[] => {
  const now = new Date(clock.now());
  return [
    {
      $set: {
        status: unlessEvent('sent', '$status'),
        reason: unlessEvent('$$REMOVE', '$reason'),
        sentAt: now,
        updatedAt: now,
        ...known,
      },
    },
    { $unset: 'job' },
  ];
};

/** Removes the job and confirms the slot. */
export const recordSent = async (mail: MailLog, { providerEmailId, subject }: Acceptance = {}): Promise<void> => {
  const change = sentChange({
    ...(providerEmailId !== undefined && { providerEmailId: { $literal: providerEmailId } }),
    ...(subject !== undefined && { subject: { $literal: subject } }),
  });
  await mailLogs.updateOne({ _id: mail._id }, change);
  const slot = slotOf(mail);
  if (slot) await confirmQuota(slot);
};

/** Refunds the slot, then removes the job. Can be repeated. */
export const finishFailed = async (mail: MailLog): Promise<void> => {
  const slot = slotOf(mail);
  if (slot) await refundQuota(slot);
  await mailLogs.updateOne({ _id: mail._id, status: 'failed' }, { $unset: { job: '' } });
};

/** Unless an event says that the provider has it. The job stays until the slot is refunded. */
export const recordFailed = async (mail: MailLog, reason: string): Promise<void> => {
  const failed = { status: 'failed' as const, reason, updatedAt: new Date(clock.now()) };
  const { matchedCount } = await mailLogs.updateOne(
    { _id: mail._id, status: 'queued', lastEventAt: { $exists: false }, job: { $exists: true } },
    { $set: failed, $unset: { 'job.content': '' } },
  );
  if (matchedCount === 0) return;
  log.warn({ job: 'deliver-mail', mail: mail._id.toHexString(), reason });
  await finishFailed(mail);
};
