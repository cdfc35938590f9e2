import { ObjectId } from 'mongodb';
import { orLog } from '../../core/log.ts';
import { earlierIds, newId } from '../../core/new-id.ts';
import { unlessTaken } from '../../core/until-written.ts';
import type { Project } from '../../projects/project.ts';
import type { JobContent } from '../mail-content.ts';
import { mailLogs } from '../mail-log.ts';
import { receiversOf } from '../suppressions.ts';
import { findTemplate } from '../templates/find-template.ts';
import { type MailContent, renderTemplate } from '../templates/render-template.ts';
import { checkContent, checkMail, type MailBody, type MailRequest } from './check-mail.ts';
import { enqueueJob } from './mail-queue.ts';
import { countRows, type MailUsage, mailUsage } from './mail-quota.ts';
import { type NewLog, newLog, sendingJob } from './new-log.ts';
import { reserveSlots } from './reserve-slots.ts';
import { requireVerifiedOwner, sharedUse } from './shared-use.ts';

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
const enqueue = (id: string): Promise<boolean> =>
  orLog('error', { message: 'The queue did not take a mail, which will be late', mail: id }, () => enqueueJob(id));

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
  await unlessTaken(inserted, () => undefined);
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
