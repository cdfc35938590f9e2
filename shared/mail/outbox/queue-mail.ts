import { newId } from '../../core/new-id.ts';
import type { JobContent, UnwrittenMail } from '../mail-content.ts';
import { mailLogs } from '../mail-log.ts';
import { builtInTemplates } from '../templates/built-in.ts';
import { type MailTemplate, renderTemplate } from '../templates/render-template.ts';
import { enqueueJob } from './mail-queue.ts';
import { type NewLog, newLog, sendingJob } from './new-log.ts';

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
const accept = async (row: Omit<NewLog, '_id' | 'job'>, content: JobContent): Promise<void> => {
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
  await accept(row, { kind: 'account', siteName, ...mail });
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
  await accept(row, { kind: 'written', ...content, replyTo: [], siteName });
};
