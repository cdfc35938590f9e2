import { setTimeout as pause } from 'node:timers/promises';
import { type Document, ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { earlierIds, newId } from '../core/ids.ts';
import { tryOrLog } from '../core/log.ts';
import { onDuplicateKey } from '../core/retry.ts';
import { cutText } from '../core/text.ts';
import { type BatchItem, type BatchOutcome, type OutgoingMail, postMails } from '../outbound/resend.ts';
import type { Project } from '../projects/project.ts';
import { type BatchMail, checkBatch, type MailBody } from './check-mail.ts';
import { fromOf, providerFor } from './content.ts';
import { requireVerifiedOwner, sharedUse } from './limits.ts';
import { type MailLog, mailLogs, mailTag } from './log.ts';
import { jobSlot } from './queue.ts';
import { confirmQuota, countRows, type QuotaReservation, refundQuota, reserveSlots } from './quota.ts';
import { newJob, newLog } from './send.ts';
import { sentChange } from './submit.ts';
import { receiversOf } from './suppressions.ts';

const stillOpen = { status: 'queued', lastEventAt: { $exists: false } } as const;

/** Email id → the provider's id, or why there is none. */
type Outcomes = ReadonlyMap<string, string>;

const toObjectIds = (ids: Iterable<string>): ObjectId[] => [...ids].map((id) => new ObjectId(id));

/** Expression for one update of several entries. */
const outcomeExpression = (said: Outcomes): Document => ({
  $arrayElemAt: [{ $literal: [...said.values()] }, { $indexOfArray: [{ $literal: toObjectIds(said.keys()) }, '$_id'] }],
});

/** One update for all costs the database a third of one each. */
const writeSent = (sent: Outcomes): Promise<unknown> =>
  mailLogs.updateMany(
    { _id: { $in: toObjectIds(sent.keys()) } },
    sentChange({ providerEmailId: outcomeExpression(sent) }),
  );

/** An event may have reported meanwhile that the email was sent. */
const writeFailed = (failed: Outcomes): Promise<unknown> =>
  mailLogs.updateMany({ ...stillOpen, _id: { $in: toObjectIds(failed.keys()) } }, [
    { $set: { status: 'failed', reason: outcomeExpression(failed), updatedAt: new Date(clock.now()) } },
  ]);

/** The driver does not retry updates of several entries; these can be repeated. */
const retryOnce = (write: () => Promise<unknown>): Promise<unknown> => write().catch(write);

/** Jobs of failed emails go last, so that an interruption leaves what refunds their slots. */
const recordItems = async (slots: QuotaReservation, items: readonly BatchItem[]): Promise<void> => {
  const [sent, failed] = [new Map<string, string>(), new Map<string, string>()];
  for (const [at, id] of slots.ids.entries()) {
    const item = items[at] ?? { error: 'Not sent' };
    if ('id' in item) sent.set(id, item.id);
    else failed.set(id, cutText(item.error, 300));
  }
  if (sent.size > 0) await retryOnce(() => writeSent(sent));
  if (failed.size > 0) await retryOnce(() => writeFailed(failed));
  await confirmQuota({ ...slots, ids: [...sent.keys()] });
  if (failed.size === 0) return;
  await refundQuota({ ...slots, ids: [...failed.keys()] });
  await mailLogs.updateMany({ _id: { $in: toObjectIds(failed.keys()) }, status: 'failed' }, { $unset: { job: '' } });
};

/** The jobs stay and are checked after an hour. */
const recordUnknown = async ({ ids }: QuotaReservation, reason: string): Promise<void> => {
  const open = { reason, updatedAt: new Date(clock.now()) };
  await mailLogs.updateMany({ ...stillOpen, _id: { $in: toObjectIds(ids) } }, { $set: open });
};

/** Never throws, because the emails are sent by now. Events of the provider repair what is not recorded. */
const finalizeBatch = async (
  slots: QuotaReservation,
  outcome: BatchOutcome,
  items: readonly BatchItem[],
): Promise<void> => {
  await tryOrLog('error', { message: 'The outcome of a batch could not be written', mails: slots.ids }, () =>
    outcome.kind === 'postponed' && outcome.maybeTaken
      ? recordUnknown(slots, outcome.reason)
      : recordItems(slots, items),
  );
};

type BatchEntry = { readonly id: string } | { readonly error: { readonly message: string } };

/** `to` without suppressed addresses. */
interface Entry extends BatchMail {
  readonly _id: ObjectId;
  readonly everybody: readonly string[];
}

/** Within about an hour the provider's events report what its response did not. */
const resolvedSeconds = 45 * 60;

const maxPauseSeconds = 3;

const entriesOf = async ({ id }: Project, mails: readonly BatchMail[]): Promise<Entry[]> => {
  const receivers = await receiversOf(id, mails);
  return mails.map((mail, index) => ({ ...mail, _id: newId(), everybody: mail.to, to: receivers[index] ?? [] }));
};

const rowOf = (project: Project, usingByok: boolean, entry: Entry, slots: QuotaReservation | undefined): MailLog => {
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

/** Duplicates come from an earlier run of the same request; a repeat returns what the log has. */
const write = async (rows: readonly MailLog[]): Promise<void> => {
  const inserted = mailLogs.insertMany(rows);
  await onDuplicateKey(inserted, (cause) => {
    throw new AppError('SERVICE_UNAVAILABLE', 'The batch could not be sent. Retry.', {
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

/** Retries once; the provider deduplicates by the key. */
const postWithRetry = async (apiKey: string, mails: readonly OutgoingMail[], key: string): Promise<BatchOutcome> => {
  const first = await postMails(apiKey, mails, key);
  if (first.kind !== 'postponed' || first.afterSeconds > maxPauseSeconds) return first;
  await pause(Math.max(500, first.afterSeconds * 1000));
  const second = await postMails(apiKey, mails, key);
  return second.kind === 'postponed' ? { ...second, maybeTaken: first.maybeTaken || second.maybeTaken } : second;
};

const suppressedItem: BatchItem = {
  error: 'This address is suppressed: an earlier email to it bounced or was marked as spam.',
};

const unknownOutcome = 'The mail provider did not respond. The mail log will show whether the email was sent.';

const itemsOf = (count: number, outcome: BatchOutcome): readonly BatchItem[] => {
  if (outcome.kind === 'answered') return outcome.items;
  const error = outcome.kind === 'postponed' && outcome.maybeTaken ? unknownOutcome : outcome.reason;
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
  const outcome = await postWithRetry(apiKey, outgoing, `batch-${key}`);
  const items = itemsOf(sendable.length, outcome);
  await finalizeBatch(slots, outcome, items);
  return new Map(sendable.flatMap((entry, index) => (items[index] ? [[entry, items[index]]] : [])));
};

const toEntry = (item: BatchItem): BatchEntry => ('id' in item ? item : { error: { message: item.error } });

const send = async (project: Project, mails: readonly BatchMail[]): Promise<BatchEntry[]> => {
  await requireVerifiedOwner(project);
  const entries = await entriesOf(project, mails);
  const items = await sendAll(project, entries);
  return entries.map((entry) => toEntry(items.get(entry) ?? suppressedItem));
};

type StoredOutcome = Pick<MailLog, '_id' | 'providerEmailId' | 'reason'>;

const itemOf = (row: StoredOutcome | undefined): BatchItem => {
  if (row?.providerEmailId !== undefined) return { id: row.providerEmailId };
  return row?.reason === 'suppressed' ? suppressedItem : { error: row?.reason ?? unknownOutcome };
};

/** An interrupted batch is not sent again, because the provider may have it. */
const findSent = async ({ id }: Project, ids: readonly ObjectId[]): Promise<BatchEntry[] | undefined> => {
  const rows = await mailLogs.find<StoredOutcome>(
    { _id: { $in: [...ids] }, projectId: new ObjectId(id) },
    { projection: { providerEmailId: 1, reason: 1 } },
  );
  if (rows.length === 0) return undefined;
  const byId = new Map(rows.map((row) => [row._id.toHexString(), row]));
  return ids.map((_id) => toEntry(itemOf(byId.get(_id.toHexString()))));
};

/**
 * Sends 1 to 100 emails in one call to the provider. Returns one entry per item, in order. Errors for the whole batch:
 * 400 `INVALID_MAIL`, 403 `EMAIL_NOT_VERIFIED`, 429 `MAIL_QUOTA_EXCEEDED`. If the provider does not respond, the call
 * is repeated once; emails with an unknown outcome stay `queued` until an event arrives, and fail after an hour. A
 * repeat of the request returns the log of the earlier run.
 */
export const sendBatch = async (project: Project, bodies: readonly MailBody[]): Promise<BatchEntry[]> => {
  const mails = checkBatch(bodies);
  const earlier = earlierIds(mails.length);
  return (earlier && (await findSent(project, earlier))) ?? send(project, mails);
};
