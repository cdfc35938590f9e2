import { ObjectId } from 'mongodb';
import { sharedProviderKey } from '../clients/resend.ts';
import { lookUpMail } from '../clients/resend-mails.ts';
import { AppError } from '../core/errors.ts';
import { type View, viewOf } from '../core/view.ts';
import type { Project } from '../projects/project.ts';
import { type MailLog, type MailStatus, mailLogs } from './mail-log.ts';
import { ownProviderKey } from './provider-key.ts';

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
  if (!found) throw new AppError('MAIL_LOG_NOT_FOUND', 'This project has no mail with this id.');
  return toMailLogView(found);
};

/** The key with which the mail was sent: no other can ask about it. */
const keyFor = async (project: Project, usingByok: boolean): Promise<string> => {
  if (!usingByok) return sharedProviderKey();
  const own = await ownProviderKey(project);
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
