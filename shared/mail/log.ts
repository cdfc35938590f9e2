import { type IndexDescription, ObjectId } from 'mongodb';
import { AppError } from '../core/errors.ts';
import { type View, viewOf } from '../core/view.ts';
import { lookUpMail, sharedProviderKey } from '../outbound/resend.ts';
import { inControl } from '../persistence/mongo.ts';
import type { Project } from '../projects/project.ts';
import { customerProviderKey } from './content.ts';

/** Where a mail stands (contract 5, "Webhook"). */
export type MailStatus = 'queued' | 'sent' | 'delivered' | 'bounced' | 'complained' | 'failed';

/** What is still to be done about a mail; gone once the provider has it, or it has failed. */
export interface MailJob {
  /** What is to be sent, as JSON, sealed with the log's id; missing where only the provider's word is awaited. */
  readonly content?: string;
  /** The month, `yyyy-mm`, whose quota the mail has a slot of; missing where it needs none. */
  readonly slot?: string;
  /** What a mail of the shared key took beyond its project, of which it may give back. */
  readonly shared?: { readonly owner: string; readonly recipients: number; readonly day?: string };
  /** A run handed the mail over, or was about to, and has not learned what became of it: the provider may have it. */
  readonly inDoubt?: boolean;
  /** Until then one run of the delivery has the job to itself. */
  readonly leasedUntil: Date;
  /** When the queue is thought to have lost the job. */
  readonly lostAt: Date;
  /** Id of the request that asked for the mail, for the log. */
  readonly requestId?: string;
}

/** One mail in `control.mailLogs`: the row of the log and, while something is to be done about it, the job. */
export interface MailLog {
  /** Also the job's id: the body of the queue's message, the provider's idempotency key and the value of `mailTag`. */
  readonly _id: ObjectId;
  /** `null` for mails of the service itself, and for those to nobody. */
  readonly projectId: ObjectId | null;
  readonly to: readonly string[];
  readonly subject: string;
  /** `nobody`: never sent, made only because others would take as long. */
  readonly status: MailStatus | 'nobody';
  /** Whether the project's own provider key sends it; decided when the mail is accepted. */
  readonly usingByok: boolean;
  readonly templateUsed: string | null;
  /** When the provider accepted the mail; until then when we did. */
  readonly sentAt: Date;
  readonly providerEmailId?: string;
  /** The provider's own time of the last event that was applied; a mail with one is the provider's already. */
  readonly lastEventAt?: Date;
  /** How much that event says (`rankOf`). */
  readonly eventRank?: number;
  /** Ids of the provider's events about it that came in, the latest of them. */
  readonly eventIds?: readonly string[];
  /** Why it failed, bounced, or the last try did: text for people, or `suppressed`. */
  readonly reason?: string;
  readonly job?: MailJob;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Name of the tag that carries the log's id to the provider and back in its events. */
export const mailTag = 'basalt_mail';

export const mailLogIndexes: readonly IndexDescription[] = [
  { key: { 'job.lostAt': 1 }, name: 'lost', partialFilterExpression: { 'job.lostAt': { $exists: true } } },
  { key: { projectId: 1, sentAt: -1, _id: -1 }, name: 'latest' },
  { key: { providerEmailId: 1 }, name: 'provider', partialFilterExpression: { providerEmailId: { $exists: true } } },
  { key: { createdAt: 1 }, name: 'age' },
];

export const mailLogs = inControl<MailLog>('mailLogs');

const asItIs = ['_id', 'to', 'subject', 'usingByok', 'templateUsed', 'sentAt'] as const;

interface MailLogView extends View<MailLog, (typeof asItIs)[number]> {
  readonly providerEmailId: string | null;
  readonly status: MailStatus;
  readonly reason: string | null;
}

const shown = 50;

/** Leaves out what is still to be sent, which can be long. */
const withoutJob = { job: 0 } as const;

const toMailLogView = (log: MailLog): MailLogView => ({
  ...viewOf(log, asItIs),
  providerEmailId: log.providerEmailId ?? null,
  // Mails to nobody belong to no project.
  status: log.status as MailStatus,
  reason: log.reason ?? null,
});

/** The latest 50 mails of a project by `sentAt`, the newest first (contract 5, "Log answers"). */
export const listMailLogs = async ({ id }: Pick<Project, 'id'>): Promise<MailLogView[]> => {
  const logs = await mailLogs.find(
    { projectId: new ObjectId(id) },
    { sort: { sentAt: -1, _id: -1 }, limit: shown, projection: withoutJob },
  );
  return logs.map(toMailLogView);
};

const unavailable = (message: string): AppError =>
  new AppError('MAIL_PROVIDER_UNAVAILABLE', message, { retryAfter: 5 });

const findLog = async (projectId: string, providerEmailId: string): Promise<MailLogView> => {
  const found = await mailLogs.findOne(
    { providerEmailId: { $eq: providerEmailId }, projectId: new ObjectId(projectId) },
    { projection: withoutJob },
  );
  if (!found) throw new AppError('MAIL_LOG_NOT_FOUND', 'This project has no email with this id.');
  return toMailLogView(found);
};

/** The key with which the mail was sent: no other can ask about it. */
const keyFor = async (project: Project, usingByok: boolean): Promise<string> => {
  if (!usingByok) return sharedProviderKey();
  const own = await customerProviderKey(project);
  if (own) return own;
  throw unavailable(
    'This mail was sent with a provider key of the project that has been removed, so it cannot be asked about.',
  );
};

/**
 * One mail by the provider's id, with its live status (contract 5, "Log answers"). Unknown, or another project's → 404
 * `MAIL_LOG_NOT_FOUND`, before the provider is asked; no answer from it within 4 s, or a refusal → 503
 * `MAIL_PROVIDER_UNAVAILABLE`. What the mail says is left out, since mails of user accounts carry tokens.
 */
export const getMailLog = async (project: Project, providerId: string) => {
  const dbLog = await findLog(project.id, providerId);
  const lookUp = await lookUpMail(await keyFor(project, dbLog.usingByok), providerId);
  if (lookUp.kind === 'unknown') return { dbLog, providerStatus: null };
  if (lookUp.kind !== 'found')
    throw unavailable(`The mail provider did not tell how the mail stands: ${lookUp.reason}`);
  const { html: _html, text: _text, ...providerStatus } = lookUp.mail;
  return { dbLog, providerStatus };
};
