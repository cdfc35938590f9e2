import { ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { earlierIds, newId } from '../core/ids.ts';
import { requestIdNow, tryOrLog } from '../core/log.ts';
import { onDuplicateKey } from '../core/retry.ts';
import type { Project } from '../projects/project.ts';
import { checkContent, checkMail, type MailBody, type MailRequest } from './check-mail.ts';
import { type JobContent, sealContent, type UnwrittenMail } from './content.ts';
import { requireVerifiedOwner, sharedUse } from './limits.ts';
import { type MailJob, type MailLog, mailLogs } from './log.ts';
import { enqueueJob, jobSlot, whenLost } from './queue.ts';
import { countRows, type MailUsage, mailUsage, type QuotaReservation, reserveSlots } from './quota.ts';
import { receiversOf } from './suppressions.ts';
import { builtInTemplates, isBuiltInKey } from './templates/built-in.ts';
import { type MailContent, type MailTemplate, renderTemplate, type Variables } from './templates/render.ts';
import { findTemplate } from './templates/templates.ts';

/** What a row of the log is made from. */
type NewLog = Pick<MailLog, '_id' | 'to' | 'subject' | 'usingByok' | 'templateUsed'> & {
  /** 24 hex characters; `null` for mails of the service itself, and for those to nobody. */
  readonly projectId: string | null;
  readonly status?: MailLog['status'];
  readonly reason?: string;
  readonly job?: MailJob;
};

/** A row of the log for a mail that is accepted now; `queued` unless said otherwise. */
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

/** A job that anybody may take at once; `seconds` until the queue should have handed it out. */
export const newJob = (seconds = 0): MailJob => {
  const requestId = requestIdNow();
  return { leasedUntil: new Date(0), lostAt: whenLost(seconds), ...(requestId !== undefined && { requestId }) };
};

/** A job that sends something, with the slot that it has of a quota. */
const sendingJob = async (_id: ObjectId, content: JobContent, slots?: QuotaReservation): Promise<MailJob> => ({
  ...newJob(),
  content: await sealContent(content, _id),
  ...(slots && jobSlot(slots, _id.toHexString())),
});

/** A mail that was accepted, as the specification answers it. */
interface AcceptedMail {
  readonly id: string;
  readonly provider: 'default' | 'byok';
  readonly monthlyUsage: number;
  readonly monthlyLimit: number;
}

interface Words {
  readonly content: MailContent;
  readonly templateUsed: string | null;
}

const wordsOf = async (project: Project, request: MailRequest): Promise<Words> => {
  if ('content' in request) return { content: request.content, templateUsed: null };
  const template = await findTemplate(project, request.template);
  return { content: checkContent(renderTemplate(template, request.variables)), templateUsed: template.name };
};

/** A mail whose id the queue did not take is found by the job that looks for lost ones. */
const enqueue = (id: string): Promise<boolean> =>
  tryOrLog('error', { message: 'The queue did not take a mail, which will be late', mail: id }, () => enqueueJob(id));

const answerOf = (
  { _id, usingByok }: { readonly _id: ObjectId; readonly usingByok: boolean },
  { used, limit }: MailUsage,
): AcceptedMail => ({
  id: _id.toHexString(),
  provider: usingByok ? 'byok' : 'default',
  monthlyUsage: used,
  monthlyLimit: limit,
});

type Row = Pick<NewLog, '_id' | 'projectId' | 'to' | 'subject' | 'usingByok' | 'templateUsed'>;

/** A row that is there already was written by an earlier run of the same request, whose answer did not come. */
const write = async (row: NewLog): Promise<void> => {
  const inserted = mailLogs.insertOne(newLog(row));
  await onDuplicateKey(inserted, () => undefined);
};

/** A mail that nobody is left to have needs no slot, so a quota that is used up is no reason to refuse it. */
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
  // Read before the log is written: what fails after that would deny a mail that goes out.
  const standing = usage ?? (await mailUsage(project));
  await write({ ...row, job: await sendingJob(_id, content, slots) });
  await enqueue(id);
  return standing;
};

const accept = async (project: Project, request: MailRequest, _id: ObjectId): Promise<AcceptedMail> => {
  const { to, replyTo } = request;
  await requireVerifiedOwner(project);
  const [{ content, templateUsed }, [receivers = []]] = await Promise.all([
    wordsOf(project, request),
    receiversOf(project.id, [request]),
  ]);
  const usingByok = project.sealedProviderApiKey !== null;
  const row = { _id, projectId: project.id, to, subject: content.subject, usingByok, templateUsed };
  const usage =
    receivers.length === 0
      ? await suppress(project, row)
      : await queue(project, row, { kind: 'written', siteName: project.name, replyTo, ...content }, receivers);
  return answerOf(row, usage);
};

/** The answer for a mail that is in the log by now, though the run that wrote it did not come to say so. */
const findAccepted = async (project: Project, _id: ObjectId): Promise<AcceptedMail | undefined> => {
  const found = await mailLogs.findOne({ _id, projectId: new ObjectId(project.id) }, { projection: { usingByok: 1 } });
  return found ? answerOf(found, await mailUsage(project)) : undefined;
};

/**
 * Accepts a mail of a project: takes a slot of its quota, writes the log and puts its id on the queue; nobody waits for
 * the provider (contract 5, "send"). Invalid → 400 `INVALID_MAIL`, unknown template → 404 `TEMPLATE_NOT_FOUND`, the
 * shared key without a verified address → 403 `EMAIL_NOT_VERIFIED`, quota used up → 429 `MAIL_QUOTA_EXCEEDED`. Once the
 * log is written the mail goes out, even if the queue is down at the moment. Where every receiver is suppressed the log
 * says so at once, and no slot is taken. A repeat of a request is answered what an earlier run of it accepted.
 */
export const sendMail = async (project: Project, body: MailBody): Promise<AcceptedMail> => {
  const request = checkMail(body, project.name);
  const [earlier] = earlierIds(1) ?? [];
  return (earlier && (await findAccepted(project, earlier))) ?? accept(project, request, newId());
};

/** A mail of user accounts. */
export interface QueuedMail extends Omit<UnwrittenMail, 'kind'> {
  /** 24 hex characters; `null` for mails of the service itself. */
  readonly projectId: string | null;
  /**
   * `null` for an address without an account: the same work is done and nothing is sent, so that timing does not reveal
   * who has an account.
   */
  readonly to: string | null;
  /** Who the mail says it is from. */
  readonly siteName: string;
  /** Whether the project's own provider key sends it; not unless said. */
  readonly usingByok?: boolean;
  /** Why it is not sent, for the log: it enters that as `failed`, and costs what any other does. */
  readonly refusal?: string;
}

/** A mail to nobody, one that is not sent, or one that is. */
const statusOf = ({ to, refusal }: QueuedMail): NonNullable<NewLog['status']> =>
  to === null ? 'nobody' : refusal === undefined ? 'queued' : 'failed';

/** Writes the log of a mail and puts its id on the queue. */
const acceptServiceMail = async (row: Omit<NewLog, '_id' | 'job'>, content: JobContent): Promise<void> => {
  const _id = newId();
  const log = newLog({ ...row, _id, job: await sendingJob(_id, content) });
  await mailLogs.insertOne(log);
  await enqueueJob(_id.toHexString());
};

/**
 * Accepts a mail: writes its log and puts the id on the queue; delivery happens later and is tried again for hours.
 * Where the queue did not take it → 503 `SERVICE_UNAVAILABLE`, though the mail may still be delivered. Takes no slot of
 * the quota.
 */
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

/** A mail of the service itself, to one address. */
interface ServiceMail {
  readonly to: string;
  /** Its `siteName` is also who the mail says it is from. */
  readonly template: MailTemplate;
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Accepts a mail that belongs to no project; counts against no quota. The queue out of reach → 503
 * `SERVICE_UNAVAILABLE`.
 */
export const queueServiceMail = async ({ to, template, variables }: ServiceMail): Promise<void> => {
  const content = renderTemplate(template, variables);
  const { name, siteName } = template;
  const row = { projectId: null, to: [to], subject: content.subject, usingByok: false, templateUsed: name };
  await acceptServiceMail(row, { kind: 'written', ...content, replyTo: [], siteName });
};

/** Who a test mail goes to, and what the template is filled in with. */
interface TestMail {
  readonly to: string;
  readonly variables?: Variables | undefined;
}

/**
 * Sends one mail made from a template, the way the mail API does: it takes a slot of the quota and is in the log. A
 * built-in template is named by its key, even where the project has one of its own with it. Refusals as
 * `sendMail` has them.
 */
export const sendTestMail = async (
  project: Project,
  templateId: string,
  { to, variables = {} }: TestMail,
): Promise<AcceptedMail> => {
  if (!isBuiltInKey(templateId)) return sendMail(project, { to, templateId, variables });
  const content = renderTemplate({ ...builtInTemplates[templateId], siteName: project.name }, variables);
  return sendMail(project, { to, ...content });
};
