import { sendLater } from '../clients/sqs.ts';
import { webhookQueueSettings } from '../core/config.ts';
import { orLog } from '../core/log.ts';
import { remember } from '../core/remember.ts';

/** The longest that SQS lets a message wait. */
const maxDelaySeconds = 900;

/** Has the webhooks of a project, or one of them, looked at in so many seconds; the ids are 24 hex characters. */
export const lookAt = async (
  what: { readonly projectId: string } | { readonly webhookId: string },
  seconds: number,
): Promise<void> =>
  sendLater(webhookQueueSettings().WEBHOOK_QUEUE_URL, JSON.stringify(what), Math.min(seconds, maxDelaySeconds));

/** When the message of a project is handed out, by `performance.now()`. */
const sent = new Map<string, number>();
const remembered = 1000;
const quietMs = 1000;

/**
 * Says that something has been written which a webhook may be told of. At once where it was quiet; else by one message
 * a second, which is handed out after all that was written until then. Never fails: what no message tells of the clock
 * finds.
 */
export const nudgeWebhooks = async (projectId: string): Promise<void> => {
  const now = performance.now();
  const last = sent.get(projectId);
  if (last !== undefined && now < last) return;
  const wait = last !== undefined && now - last < quietMs ? 1 : 0;
  remember(sent, projectId, now + wait * 1000, remembered);
  const fields = { message: 'Webhooks wait for the clock', project: projectId };
  if (!(await orLog('warn', fields, () => lookAt({ projectId }, wait)))) sent.delete(projectId);
};

/** Forgets what was sent; for tests that look at the next message. */
export const forgetNudges = (): void => sent.clear();
