import { newId } from '../../core/new-id.ts';
import type { UnwrittenMail } from '../mail-content.ts';
import { onMailLogs } from '../mail-log.ts';
import { builtInTemplates } from '../templates/built-in.ts';
import { renderTemplate } from '../templates/render-template.ts';
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

/**
 * Accepts a mail: writes its log and puts the id on the queue; delivery happens later and is tried again for hours.
 * Where the queue did not take it → 503 `SERVICE_UNAVAILABLE`, though the mail may still be delivered. Takes no slot of
 * the quota.
 */
export const queueMail = async (queued: QueuedMail): Promise<void> => {
  const { projectId, to, siteName, usingByok = false, refusal, ...mail } = queued;
  const _id = newId();
  const { subject } = renderTemplate({ ...builtInTemplates[mail.template], siteName }, mail.variables);
  const log = newLog({
    _id,
    projectId: to === null ? null : projectId,
    to: to === null ? [] : [to],
    subject,
    status: statusOf(queued),
    ...(to !== null && refusal !== undefined && { reason: refusal }),
    usingByok,
    templateUsed: mail.template,
    job: await sendingJob(_id, { kind: 'account', siteName, ...mail }),
  });
  await onMailLogs((logs) => logs.insertOne(log));
  await enqueueJob(_id.toHexString());
};
