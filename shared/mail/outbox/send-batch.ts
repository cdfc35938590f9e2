import { setTimeout as pause } from 'node:timers/promises';
import { ObjectId } from 'mongodb';
import { type BatchItem, type BatchOutcome, type OutgoingMail, postMails } from '../../clients/resend-mails.ts';
import { AppError } from '../../core/errors.ts';
import { earlierIds, newId } from '../../core/new-id.ts';
import { unlessTaken } from '../../core/until-written.ts';
import type { Project } from '../../projects/project.ts';
import { type MailLog, mailLogs, mailTag } from '../mail-log.ts';
import { providerFor } from '../provider-key.ts';
import { fromOf } from '../sender.ts';
import { receiversOf } from '../suppressions.ts';
import { type BatchMail, checkBatch, type MailBody } from './check-mail.ts';
import { jobSlot } from './job-slot.ts';
import { countRows, type Slots } from './mail-quota.ts';
import { newJob, newLog } from './new-log.ts';
import { reserveSlots } from './reserve-slots.ts';
import { settleBatch } from './settle-batch.ts';
import { requireVerifiedOwner, sharedUse } from './shared-use.ts';

/** What became of one item of a batch (contract 5, "Batch"). */
type BatchEntry = { readonly id: string } | { readonly error: { readonly message: string } };

/** An item on its way; `to` without those who are suppressed. */
interface Entry extends BatchMail {
  readonly _id: ObjectId;
  readonly everybody: readonly string[];
}

/** Then a mail counts as lost: within about an hour the provider's events report what its response did not. */
const resolvedSeconds = 45 * 60;

/** The longest that a caller is kept waiting for a second try. */
const maxPauseSeconds = 3;

const entriesOf = async ({ id }: Project, mails: readonly BatchMail[]): Promise<Entry[]> => {
  const receivers = await receiversOf(id, mails);
  return mails.map((mail, index) => ({ ...mail, _id: newId(), everybody: mail.to, to: receivers[index] ?? [] }));
};

const rowOf = (project: Project, usingByok: boolean, entry: Entry, slots: Slots | undefined): MailLog => {
  const row = {
    _id: entry._id,
    projectId: project.id,
    to: entry.everybody,
    subject: entry.content.subject,
    usingByok,
    templateUsed: null,
  };
  return entry.to.length > 0 && slots
    ? newLog({ ...row, job: { ...newJob(resolvedSeconds), ...jobSlot(slots, row._id.toHexString()) } })
    : newLog({ ...row, status: 'failed', reason: 'suppressed' });
};

/** Rows that are there come from an earlier run of the same request; the next one tells what the log says of them. */
const write = async (rows: readonly MailLog[]): Promise<void> => {
  const inserted = mailLogs.insertMany(rows);
  await unlessTaken(inserted, (cause) => {
    throw new AppError('SERVICE_UNAVAILABLE', 'The batch could not be sent at the moment. Please try again.', {
      cause,
    });
  });
};

const toOutgoing = (from: string, { _id, to, replyTo, content }: Entry): OutgoingMail => ({
  from,
  to,
  replyTo,
  ...content,
  tags: { [mailTag]: _id.toHexString() },
});

/** Calls the provider, and once more where that may help: it knows the batch again by its key. */
const handOver = async (apiKey: string, mails: readonly OutgoingMail[], key: string): Promise<BatchOutcome> => {
  const first = await postMails(apiKey, mails, key);
  if (first.kind !== 'postponed' || first.afterSeconds > maxPauseSeconds) return first;
  await pause(Math.max(500, first.afterSeconds * 1000));
  const second = await postMails(apiKey, mails, key);
  return second.kind === 'postponed' ? { ...second, maybeTaken: first.maybeTaken || second.maybeTaken } : second;
};

const suppressedItem: BatchItem = {
  error: 'This address is suppressed: an earlier mail to it bounced, or its owner complained.',
};

const unanswered = 'The mail provider did not answer. The mail log will show whether the mail was sent.';

const itemsOf = (count: number, outcome: BatchOutcome): readonly BatchItem[] => {
  if (outcome.kind === 'answered') return outcome.items;
  const error = outcome.kind === 'postponed' && outcome.maybeTaken ? unanswered : outcome.reason;
  return Array.from({ length: count }, () => ({ error }));
};

const sendAll = async (project: Project, entries: readonly Entry[]): Promise<ReadonlyMap<Entry, BatchItem>> => {
  const { apiKey, byok } = await providerFor(project);
  const sendable = entries.filter(({ to }) => to.length > 0);
  const ids = sendable.map(({ _id }) => _id.toHexString());
  const [key] = ids;
  const rows = entries.length;
  const use = { rows, ...sharedUse(project, sendable) };
  const slots = key === undefined ? undefined : (await reserveSlots(project, ids, use)).slots;
  if (!slots) await countRows(project, rows);
  await write(entries.map((entry) => rowOf(project, byok, entry, slots)));
  if (key === undefined || !slots) return new Map();
  const from = fromOf(byok ? project.providerFromEmail : null, project.name);
  const outgoing = sendable.map((entry) => toOutgoing(from, entry));
  const outcome = await handOver(apiKey, outgoing, `batch-${key}`);
  const items = itemsOf(sendable.length, outcome);
  await settleBatch(slots, outcome, items);
  return new Map(sendable.flatMap((entry, index) => (items[index] ? [[entry, items[index]]] : [])));
};

const toEntry = (item: BatchItem): BatchEntry => ('id' in item ? item : { error: { message: item.error } });

const send = async (project: Project, mails: readonly BatchMail[]): Promise<BatchEntry[]> => {
  await requireVerifiedOwner(project);
  const entries = await entriesOf(project, mails);
  const items = await sendAll(project, entries);
  return entries.map((entry) => toEntry(items.get(entry) ?? suppressedItem));
};

type Told = Pick<MailLog, '_id' | 'providerEmailId' | 'reason'>;

const itemOf = (row: Told | undefined): BatchItem => {
  if (row?.providerEmailId !== undefined) return { id: row.providerEmailId };
  return row?.reason === 'suppressed' ? suppressedItem : { error: row?.reason ?? unanswered };
};

/** A batch whose run did not come to answer is not sent again, as the provider may have it. */
const findSent = async ({ id }: Project, ids: readonly ObjectId[]): Promise<BatchEntry[] | undefined> => {
  const rows = await mailLogs.find<Told>(
    { _id: { $in: [...ids] }, projectId: new ObjectId(id) },
    { projection: { providerEmailId: 1, reason: 1 } },
  );
  if (rows.length === 0) return undefined;
  const byId = new Map(rows.map((row) => [row._id.toHexString(), row]));
  return ids.map((_id) => toEntry(itemOf(byId.get(_id.toHexString()))));
};

/**
 * Sends 1 to 100 mails of a project by one call of the provider and returns one entry per item, in order. Invalid → 400
 * `INVALID_MAIL` for all, the shared key without a verified address → 403 `EMAIL_NOT_VERIFIED`, more than the quota has
 * left → 429 `MAIL_QUOTA_EXCEEDED` for all; otherwise each item has its log, and those that were not sent give their
 * slots back. Without an answer the call is repeated once under the same key; what is unknown even then stays `queued`
 * in the log until an event of the provider tells, or has failed after an hour. A repeat of a request is answered what
 * the log has of an earlier run of it.
 */
export const sendBatch = async (project: Project, bodies: readonly MailBody[]): Promise<BatchEntry[]> => {
  const mails = checkBatch(bodies);
  const earlier = earlierIds(mails.length);
  return (earlier && (await findSent(project, earlier))) ?? send(project, mails);
};
