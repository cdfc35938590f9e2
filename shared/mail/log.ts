import { type IndexDescription, ObjectId } from 'mongodb';
import { AppError } from '../core/errors.ts';
import { type View, viewOf } from '../core/values.ts';
import { lookUpMail, sharedProviderKey } from '../outbound/resend.ts';
import { inControl } from '../persistence/mongo.ts';
import type { Project } from '../projects/project.ts';
import { customerProviderKey } from './content.ts';

export type MailStatus = 'queued' | 'sent' | 'delivered' | 'bounced' | 'complained' | 'failed';

/** Pending work; removed once the provider has the email or it has failed. */
export interface MailJob {
  /** JSON sealed with the log id; missing if only the provider's answer is awaited. */
  readonly content?: string;
  /** `yyyy-mm` of the quota slot; missing if the email needs none. */
  readonly slot?: string;
  /** What the shared key counted, for a refund. */
  readonly shared?: { readonly owner: string; readonly recipients: number; readonly day?: string };
  /** The provider may already have the email: a run has sent it, or was about to, without recording the outcome. */
  readonly inDoubt?: boolean;
  readonly leasedUntil: Date;
  /** When the queue counts as having lost the job. */
  readonly lostAt: Date;
  /** Request that sent the email, for our log. */
  readonly requestId?: string;
}

/** An email in `control.mailLogs`, with its job while work is pending. */
export interface MailLog {
  /** Also the job id in the queue message, the provider's idempotency key and the value of `mailTag`. */
  readonly _id: ObjectId;
  /** `null` for emails of the service, and for those to nobody. */
  readonly projectId: ObjectId | null;
  readonly to: readonly string[];
  readonly subject: string;
  /** `nobody`: never sent; exists so that timing does not reveal accounts. */
  readonly status: MailStatus | 'nobody';
  /** Sent with the project's own provider key; decided when accepted. */
  readonly usingByok: boolean;
  readonly templateUsed: string | null;
  /** When the provider accepted the email; before that, when we did. */
  readonly sentAt: Date;
  readonly providerEmailId?: string;
  /** Provider's time of the last applied event. */
  readonly lastEventAt?: Date;
  readonly eventRank?: number;
  /** The latest event ids. */
  readonly eventIds?: readonly string[];
  /** Text for people, or `suppressed`. */
  readonly reason?: string;
  readonly job?: MailJob;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Tag that carries the log id to the provider and back in its events. */
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

/** Job contents can be long. */
const withoutJob = { job: 0 } as const;

const toMailLogView = (log: MailLog): MailLogView => ({
  ...viewOf(log, asItIs),
  providerEmailId: log.providerEmailId ?? null,
  // Emails to nobody belong to no project.
  status: log.status as MailStatus,
  reason: log.reason ?? null,
});

/** Returns the latest 50 emails, newest first. */
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

/** Only the key that sent an email can look it up. */
const keyFor = async (project: Project, usingByok: boolean): Promise<string> => {
  if (!usingByok) return sharedProviderKey();
  const own = await customerProviderKey(project);
  if (own) return own;
  throw unavailable(
    'This email was sent with a provider key that the project no longer has, so its status cannot be read.',
  );
};

/** Throws 404 `MAIL_LOG_NOT_FOUND` or 503 `MAIL_PROVIDER_UNAVAILABLE`. Content may carry tokens, so it is left out. */
export const getMailLog = async (project: Project, providerId: string) => {
  const dbLog = await findLog(project.id, providerId);
  const lookUp = await lookUpMail(await keyFor(project, dbLog.usingByok), providerId);
  if (lookUp.kind === 'unknown') return { dbLog, providerStatus: null };
  if (lookUp.kind !== 'found')
    throw unavailable(`The mail provider did not return the status of the email: ${lookUp.reason}`);
  const { html: _html, text: _text, ...providerStatus } = lookUp.mail;
  return { dbLog, providerStatus };
};
