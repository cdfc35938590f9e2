import { newId } from '../../core/new-id.ts';
import { onMailLogs } from '../mail-log.ts';
import type { MailTemplate } from '../templates/mail-template.ts';
import { renderTemplate } from '../templates/render-template.ts';
import { enqueueJob } from './mail-queue.ts';
import { newLog, sendingJob } from './new-log.ts';

/** A mail of the service itself, to one address. */
export interface ServiceMail {
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
  const _id = newId();
  const content = renderTemplate(template, variables);
  const { siteName } = template;
  const log = newLog({
    _id,
    projectId: null,
    to: [to],
    subject: content.subject,
    usingByok: false,
    templateUsed: template.name,
    job: await sendingJob(_id, { kind: 'written', ...content, replyTo: [], siteName }),
  });
  await onMailLogs((logs) => logs.insertOne(log));
  await enqueueJob(_id.toHexString());
};
