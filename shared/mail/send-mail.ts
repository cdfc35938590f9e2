import { ObjectId } from 'mongodb';
import { describeError, log } from '../log.ts';
import type { Project } from '../projects/project.ts';
import { checkContent, checkMail, type MailBody, type MailRequest } from './check-mail.ts';
import { onMailLogs } from './mail-log.ts';
import { enqueueJob } from './mail-queue.ts';
import { newLog, sendingJob } from './new-log.ts';
import { reserveSlots } from './reserve-slots.ts';
import { findTemplate } from './templates/find-template.ts';
import type { MailContent } from './templates/mail-template.ts';
import { renderTemplate } from './templates/render-template.ts';

/** A mail that was accepted, as the specification answers it. */
export interface AcceptedMail {
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
const enqueue = async (id: string): Promise<void> => {
  try {
    await enqueueJob(id);
  } catch (error) {
    log.error({ message: 'The queue did not take a mail, which will be late', mail: id, error: describeError(error) });
  }
};

/**
 * Accepts a mail of a project: takes a slot of its quota, writes the log and puts its id on the queue; nobody waits for the
 * provider (contract 5, "send"). Invalid → 400 `INVALID_MAIL`, unknown template → 404 `TEMPLATE_NOT_FOUND`, quota used up → 429
 * `MAIL_QUOTA_EXCEEDED`. Once the log is written the mail goes out, even if the queue is down at the moment.
 */
export const sendProjectMail = async (project: Project, body: MailBody): Promise<AcceptedMail> => {
  const request = checkMail(body);
  const { content, templateUsed } = await wordsOf(project, request);
  const _id = new ObjectId();
  const id = _id.toHexString();
  const usingByok = project.sealedProviderApiKey !== null;
  const { slots, usage } = await reserveSlots(project, [id]);
  const { to, replyTo } = request;
  const job = await sendingJob(_id, { kind: 'written', siteName: project.name, replyTo, ...content }, slots.month);
  const row = newLog({ _id, projectId: project.id, to, subject: content.subject, usingByok, templateUsed, job });
  await onMailLogs((logs) => logs.insertOne(row));
  await enqueue(id);
  return {
    id,
    provider: usingByok ? 'byok' : 'default',
    monthlyUsage: usage.used,
    monthlyLimit: usage.limit,
  };
};
