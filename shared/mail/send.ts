import { ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { earlierIds, newId } from '../core/ids.ts';
import { requestIdNow } from '../core/request.ts';
import { onDuplicateKey } from '../core/retry.ts';
import type { Project } from '../projects/project.ts';
import { checkContent, checkMail, type MailBody, type MailRequest } from './check-mail.ts';
import { type JobContent, sealContent, type UnwrittenMail } from './content.ts';
import { requireVerifiedOwner, sharedUse } from './limits.ts';
import { type MailJob, type MailLog, mailLogs } from './log.ts';
import { enqueue, enqueueJob, jobSlot, lostAfter } from './queue.ts';
import { countRows, type MailUsage, mailUsage, type QuotaReservation, reserveSlots } from './quota.ts';
import { receiversOf } from './suppressions.ts';
import { builtInTemplates, isBuiltInKey } from './templates/built-in.ts';
import { type MailContent, type MailTemplate, renderTemplate, type Variables } from './templates/render.ts';
import { findTemplate } from './templates/templates.ts';

type NewLog = Pick<MailLog, '_id' | 'to' | 'subject' | 'usingByok' | 'templateUsed'> & {
  /** `null` for emails of the service, and for those to nobody. */
  readonly projectId: string | null;
  readonly status?: MailLog['status'];
  readonly reason?: string;
  readonly job?: MailJob;
};

export const newLog = ({ projectId, status = 'queued', ...rest }: NewLog): MailLog => {
  const now = new Date(clock.now());
  return {
    ...rest,
    projectId: projectId === null ? null : new ObjectId(projectId),
    status,
    sentAt: now,
    createdAt: now,
    updatedAt: now,
  };
};

/** `seconds` until the queue should have delivered it. */
export const newJob = (seconds = 0): MailJob => {
  const requestId = requestIdNow();
  return { leasedUntil: new Date(0), lostAt: lostAfter(seconds), ...(requestId !== undefined && { requestId }) };
};

/** Without `slots` the email needs no quota. */
export const sendingJob = async (_id: ObjectId, content: JobContent, slots?: QuotaReservation): Promise<MailJob> => ({
  ...newJob(),
  content: await sealContent(content, _id),
  ...(slots && jobSlot(slots, _id.toHexString())),
});

interface AcceptedMail {
  readonly id: string;
  readonly provider: 'default' | 'byok';
  readonly monthlyUsage: number;
  readonly monthlyLimit: number;
}

interface MailText {
  readonly content: MailContent;
  readonly templateUsed: string | null;
}

const contentOf = async (project: Project, request: MailRequest): Promise<MailText> => {
  if ('content' in request) return { content: request.content, templateUsed: null };
  const template = await findTemplate(project, request.template);
  return { content: checkContent(renderTemplate(template, request.variables)), templateUsed: template.name };
};

const toAcceptedMail = (
  { _id, usingByok }: { readonly _id: ObjectId; readonly usingByok: boolean },
  { used, limit }: MailUsage,
): AcceptedMail => ({
  id: _id.toHexString(),
  provider: usingByok ? 'byok' : 'default',
  monthlyUsage: used,
  monthlyLimit: limit,
});

type Row = Pick<NewLog, '_id' | 'projectId' | 'to' | 'subject' | 'usingByok' | 'templateUsed'>;

/** A duplicate was written by an earlier run of the same request. */
const write = async (row: NewLog): Promise<void> => {
  const inserted = mailLogs.insertOne(newLog(row));
  await onDuplicateKey(inserted, () => undefined);
};

/** An email without recipients needs no slot, so a used-up quota does not matter. */
const suppress = async (project: Project, row: Row): Promise<MailUsage> => {
  const usage = await countRows(project, 1);
  await write({ ...row, status: 'failed', reason: 'suppressed' });
  return usage;
};

const queue = async (
  project: Project,
  row: Row,
  content: JobContent,
  receivers: readonly string[],
): Promise<MailUsage> => {
  const { _id } = row;
  const id = _id.toHexString();
  const { slots, usage } = await reserveSlots(project, [id], sharedUse(project, [{ _id, to: receivers }]));
  // Read before the log is written: an error after that would deny an email that is sent.
  const standing = usage ?? (await mailUsage(project));
  await write({ ...row, job: await sendingJob(_id, content, slots) });
  await enqueue(id);
  return standing;
};

const accept = async (project: Project, request: MailRequest, _id: ObjectId): Promise<AcceptedMail> => {
  const { to, replyTo } = request;
  await requireVerifiedOwner(project);
  const [{ content, templateUsed }, [receivers = []]] = await Promise.all([
    contentOf(project, request),
    receiversOf(project.id, [request]),
  ]);
  const usingByok = project.sealedProviderApiKey !== null;
  const row = { _id, projectId: project.id, to, subject: content.subject, usingByok, templateUsed };
  const usage =
    receivers.length === 0
      ? await suppress(project, row)
      : await queue(project, row, { kind: 'written', siteName: project.name, replyTo, ...content }, receivers);
  return toAcceptedMail(row, usage);
};

/** Response for an email that an interrupted earlier run logged. */
const findAccepted = async (project: Project, _id: ObjectId): Promise<AcceptedMail | undefined> => {
  const found = await mailLogs.findOne({ _id, projectId: new ObjectId(project.id) }, { projection: { usingByok: 1 } });
  return found ? toAcceptedMail(found, await mailUsage(project)) : undefined;
};

/**
 * Accepts an email: reserves a slot, writes the log and enqueues the id. If all recipients are suppressed, it is logged
 * as failed and takes no slot. A repeat of the request returns the earlier result. Errors: 400 `INVALID_MAIL`, 404
 * `TEMPLATE_NOT_FOUND`, 403 `EMAIL_NOT_VERIFIED`, 429 `MAIL_QUOTA_EXCEEDED`.
 */
export const sendMail = async (project: Project, body: MailBody): Promise<AcceptedMail> => {
  const request = checkMail(body, project.name);
  const [earlier] = earlierIds(1) ?? [];
  return (earlier && (await findAccepted(project, earlier))) ?? accept(project, request, newId());
};

export interface QueuedMail extends Omit<UnwrittenMail, 'kind'> {
  /** `null` for emails of the service. */
  readonly projectId: string | null;
  /**
   * `null` for an address without an account: the same work is done and nothing is sent, so that timing does not reveal
   * who has an account.
   */
  readonly to: string | null;
  /** Sender name. */
  readonly siteName: string;
  /** Sent with the project's own provider key; false by default. */
  readonly usingByok?: boolean;
  /** Logs the email as `failed` with this reason. */
  readonly refusal?: string;
}

const statusOf = ({ to, refusal }: QueuedMail): NonNullable<NewLog['status']> =>
  to === null ? 'nobody' : refusal === undefined ? 'queued' : 'failed';

const acceptServiceMail = async (row: Omit<NewLog, '_id' | 'job'>, content: JobContent): Promise<void> => {
  const _id = newId();
  const log = newLog({ ...row, _id, job: await sendingJob(_id, content) });
  await mailLogs.insertOne(log);
  await enqueueJob(_id.toHexString());
};

/** Takes no quota slot. Throws 503 `SERVICE_UNAVAILABLE` if the queue is down; the email may still be sent. */
export const queueMail = async (queued: QueuedMail): Promise<void> => {
  const { projectId, to, siteName, usingByok = false, refusal, ...mail } = queued;
  const { subject } = renderTemplate({ ...builtInTemplates[mail.template], siteName }, mail.variables);
  const row = {
    projectId: to === null ? null : projectId,
    to: to === null ? [] : [to],
    subject,
    status: statusOf(queued),
    ...(to !== null && refusal !== undefined && { reason: refusal }),
    usingByok,
    templateUsed: mail.template,
  };
  await acceptServiceMail(row, { kind: 'account', siteName, ...mail });
};

interface ServiceMail {
  readonly to: string;
  /** Its `siteName` is also the sender name. */
  readonly template: MailTemplate;
  readonly variables: Readonly<Record<string, string>>;
}

/** Accepts an email of the service, without quota. Throws 503 `SERVICE_UNAVAILABLE` if the queue is down. */
export const queueServiceMail = async ({ to, template, variables }: ServiceMail): Promise<void> => {
  const content = renderTemplate(template, variables);
  const { name, siteName } = template;
  const row = { projectId: null, to: [to], subject: content.subject, usingByok: false, templateUsed: name };
  await acceptServiceMail(row, { kind: 'written', ...content, replyTo: [], siteName });
};

interface TestMail {
  readonly to: string;
  readonly variables?: Variables | undefined;
}

/** Counted and logged like `sendMail`. A built-in key always names the built-in template. */
export const sendTestMail = async (
  project: Project,
  templateId: string,
  { to, variables = {} }: TestMail,
): Promise<AcceptedMail> => {
  if (!isBuiltInKey(templateId)) return sendMail(project, { to, templateId, variables });
  const content = renderTemplate({ ...builtInTemplates[templateId], siteName: project.name }, variables);
  return sendMail(project, { to, ...content });
};
