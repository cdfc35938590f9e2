import { type AnyBulkWriteOperation, ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { serviceName } from '../core/config.ts';
import { newId } from '../core/ids.ts';
import { tryOrLog } from '../core/log.ts';
import { plainName } from '../mail/content.ts';
import { queueServiceMail } from '../mail/send.ts';
import { webhookOffTemplate } from '../mail/templates/built-in.ts';
import { emailsOf } from '../projects/find-project.ts';
import type { Project } from '../projects/project.ts';
import type { DueEvent, ProjectEvent } from './event-body.ts';
import {
  type DeliveryRecord,
  type DeliveryTry,
  deliveryRecords,
  type WebhookRecord,
  webhookRecords,
} from './records.ts';
import { isSuccess, type Receipt } from './send.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Delays before attempts two to eight. */
const retryDelays: readonly number[] = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour];

export const maxTries = retryDelays.length + 1;

/** Also limits a receiver's `Retry-After`. */
const maxWaitMs = 24 * hour;

/**
 * Delay (ms) after `tries` failures; `retryAfter` in seconds can extend it. Newer events of the resource wait as long
 * as its earlier failures.
 */
const delayAfter = (tries: number, retryAfter = 0): number =>
  Math.max(retryDelays[Math.min(tries, retryDelays.length) - 1] ?? 0, Math.min(retryAfter * second, maxWaitMs));

/** A webhook without a success for this long is switched off. */
const failureLimitMs = 5 * 24 * hour;

/** Slower responses mark the receiver as slow. */
const slowMs = 5 * second;

/** Enough for a log; a resource can change often while its receiver fails. */
const maxAttempts = 50;

const attemptOf = ({ id }: ProjectEvent, { status, ms, error }: Receipt): DeliveryTry => ({
  at: new Date(clock.now()),
  status,
  ms,
  ...(error !== undefined && { error }),
  of: id,
});

/** `rest`: update of the entry that remains if the resource changed again. */
interface Outcome {
  readonly set: Pick<DeliveryRecord, 'type' | 'attempts' | 'nextAt'> & Partial<Pick<DeliveryRecord, 'state'>>;
  readonly rest: Partial<Pick<DeliveryRecord, 'sent'>>;
}

/** Matches if the resource has not changed since and no write is in progress. */
const asItWas = ({ _id, marks }: DeliveryRecord) => ({
  _id,
  marks,
  state: 'waiting' as const,
  'ahead.until': { $not: { $gt: new Date(clock.now()) } },
});

/** Makes an entry due now, or after the write in progress. */
const makeDue = async ({ _id }: DeliveryRecord, set: object = {}): Promise<void> => {
  const now = new Date(clock.now());
  const nextAt = { $max: { $concatArrays: [[now], { $ifNull: ['$ahead.until', []] }] } };
  await deliveryRecords.updateOne({ _id, state: 'waiting' }, [{ $set: { ...set, nextAt } }]);
};

/** The resource changed again: logs what was sent and continues with the rest. */
const splitEntry = async (entry: DeliveryRecord, { set, rest }: Outcome): Promise<void> => {
  const { ahead: _ahead, lastView: _view, ...copy } = entry;
  await deliveryRecords.insertOne({ ...copy, ...set, ...rest, _id: newId() });
  await makeDue(entry, { ...rest, attempts: [], createdAt: new Date(clock.now()) });
};

/** Deletes an entry without an event, unless its resource changed again. */
export const deleteDelivery = async (entry: DeliveryRecord): Promise<void> => {
  const { deletedCount } = await deliveryRecords.deleteOne(asItWas(entry));
  if (deletedCount === 0) await makeDue(entry);
};

interface SentEvent extends DueEvent {
  readonly receipt: Receipt;
}

/** After eight attempts, or a 410, the delivery has ended. */
const outcomeOf = ({ entry, event, receipt }: SentEvent): Outcome => {
  const attempts = [...entry.attempts, attemptOf(event, receipt)].slice(-maxAttempts);
  const { type } = event;
  if (isSuccess(receipt)) {
    return { set: { state: 'delivered', type, attempts, nextAt: null }, rest: { sent: event.id } };
  }
  const tries = attempts.filter(({ of }) => of === event.id).length;
  if (tries >= maxTries || receipt.status === 410) {
    return { set: { state: 'failed', type, attempts, nextAt: null }, rest: {} };
  }
  const nextAt = new Date(clock.now() + delayAfter(attempts.length, receipt.retryAfter));
  return { set: { type, attempts, nextAt }, rest: {} };
};

const updateOf = (entry: DeliveryRecord, { set, rest }: Outcome): AnyBulkWriteOperation<DeliveryRecord> => ({
  updateOne:
    set.state === undefined
      ? { filter: { _id: entry._id, state: 'waiting' }, update: { $set: set } }
      : { filter: asItWas(entry), update: { $set: { ...set, ...rest }, $unset: { lastView: '', ahead: '' } } },
});

/** Saves outcomes with one command. Newer events of a resource get their own attempts. */
export const recordDeliveries = async (tries: readonly SentEvent[]): Promise<void> => {
  const outcomes = tries.map((one) => ({ entry: one.entry, outcome: outcomeOf(one) }));
  const writes = outcomes.map(({ entry, outcome }) => updateOf(entry, outcome));
  const { matchedCount } = await deliveryRecords.bulkWrite(writes, { ordered: false });
  if (matchedCount === writes.length) return;
  const ended = outcomes.filter(({ outcome }) => outcome.set.state !== undefined);
  const open = { _id: { $in: ended.map(({ entry }) => entry._id) }, state: 'waiting' as const };
  const left = await deliveryRecords.find(open, { projection: { _id: 1 } });
  const ids = new Set(left.map(({ _id }) => _id.toHexString()));
  for (const { entry, outcome } of ended) if (ids.has(entry._id.toHexString())) await splitEntry(entry, outcome);
};

const reasons = {
  gone: 'its receiver returned 410, which ends deliveries',
  failing: 'every delivery has failed for five days',
} as const;

/** A courtesy email; the dashboard shows the same. */
const mailOwner = (project: Project, { url }: WebhookRecord, why: keyof typeof reasons): Promise<boolean> =>
  tryOrLog('warn', { job: 'deliver-webhooks', project: project.id }, async () => {
    const to = (await emailsOf([new ObjectId(project.ownerId)])).get(project.ownerId);
    if (to === undefined) return;
    await queueServiceMail({
      to,
      template: { ...webhookOffTemplate, siteName: serviceName },
      variables: { project: plainName(project.name) || project.id, host: new URL(url).host, reason: reasons[why] },
    });
  });

/** Switches a webhook off unless it changed or succeeded meanwhile. Exactly one run sends the email. */
const switchOff = async (project: Project, webhook: WebhookRecord, why: keyof typeof reasons): Promise<void> => {
  const { _id, url, failingSince } = webhook;
  const off = { enabled: false, updatedAt: new Date(clock.now()) };
  const { modifiedCount } = await webhookRecords.updateOne(
    { _id, url, enabled: true, ...(why === 'failing' && { failingSince }) },
    { $set: off, $unset: { failingSince: '' } },
  );
  if (modifiedCount > 0) await mailOwner(project, webhook, why);
};

/** Records failures and slowness; switches off after a 410 or five days. */
export const noteReceipt = async (project: Project, webhook: WebhookRecord, receipt: Receipt): Promise<void> => {
  const { _id, failingSince, isSlow = false } = webhook;
  const takesLong = receipt.ms > slowMs;
  if (receipt.status === 410) return switchOff(project, webhook, 'gone');
  if (isSuccess(receipt)) {
    const isAsKnown = failingSince === undefined && isSlow === takesLong;
    if (isAsKnown) return undefined;
    const change = { $unset: { failingSince: '' as const, ...(!takesLong && { isSlow: '' as const }) } };
    await webhookRecords.updateOne({ _id }, { ...change, ...(takesLong && { $set: { isSlow: true } }) });
    return undefined;
  }
  if (failingSince && clock.now() - failingSince.getTime() >= failureLimitMs) {
    return switchOff(project, webhook, 'failing');
  }
  if (failingSince && isSlow === takesLong) return undefined;
  const since = { $min: { failingSince: new Date(clock.now()) } };
  await webhookRecords.updateOne({ _id }, { ...since, ...(takesLong && { $set: { isSlow: true } }) });
  return undefined;
};

const pageSize = 100;

/** All deliveries, or only tests while the webhook is off. */
const open = ({ _id, enabled }: Pick<WebhookRecord, '_id' | 'enabled'>) => ({
  webhookId: _id,
  state: 'waiting' as const,
  ...(!enabled && { thing: /^test\// }),
});

/** Oldest first, without those in flight. */
export const dueDeliveries = (
  webhook: WebhookRecord,
  inFlight: readonly DeliveryRecord['_id'][],
): Promise<DeliveryRecord[]> =>
  deliveryRecords.find(
    { ...open(webhook), nextAt: { $lte: new Date(clock.now()) }, _id: { $nin: [...inFlight] } },
    { sort: { nextAt: 1 }, limit: pageSize },
  );

export const nextDue = async (webhook: WebhookRecord): Promise<Date | undefined> => {
  const next = await deliveryRecords.findOne(open(webhook), { sort: { nextAt: 1 }, projection: { nextAt: 1 } });
  return next?.nextAt ?? undefined;
};

const patienceMs = 60_000;

/** Postpones an entry that cannot be processed now, so that it does not block the others. */
export const rescheduleDelivery = async ({ _id }: DeliveryRecord): Promise<void> => {
  const nextAt = new Date(clock.now() + patienceMs);
  await deliveryRecords.updateOne({ _id, state: 'waiting' }, { $set: { nextAt } });
};
