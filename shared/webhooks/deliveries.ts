import { ObjectId } from 'mongodb';
import { clock, dayMs } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import type { Page, PageRequest } from '../core/values.ts';
import { idOf, type View, viewOf } from '../core/values.ts';
import { findPage } from '../persistence/records.ts';
import type { Project } from '../projects/project.ts';
import { collectionOf, sentId } from './event-body.ts';
import { enqueueDeliveries, type ResourceEvent, wakeWebhookWorker } from './events.ts';
import { positionsAt } from './feeds.ts';
import { invalidWebhook, requireWebhook } from './manage.ts';
import {
  type DeliveryRecord,
  type DeliveryTry,
  deliveryRecords,
  type WebhookRecord,
  webhookRecords,
} from './records.ts';

const shown = ['_id', 'webhookId', 'type', 'state', 'nextAt', 'createdAt'] as const;

interface DeliveryView extends View<DeliveryRecord, (typeof shown)[number]> {
  readonly collection?: string;
  /** The last `webhook-id` sent; `null` before the first attempt. */
  readonly eventId: string | null;
  readonly attempts: readonly (Omit<DeliveryTry, 'of'> & { readonly eventId: string })[];
}

const toView = (record: DeliveryRecord): DeliveryView => {
  const attempts = record.attempts.map(({ of, ...attempt }) => ({ ...attempt, eventId: sentId(of) }));
  const collection = collectionOf(record);
  return {
    ...viewOf(record, shown),
    ...(collection !== undefined && { collection }),
    eventId: attempts.at(-1)?.eventId ?? null,
    attempts,
  };
};

export const listWebhookDeliveries = async (
  project: Pick<Project, 'id'>,
  webhookId: string,
  request: PageRequest,
): Promise<Page<DeliveryView>> => {
  const { _id } = await requireWebhook(project, webhookId);
  return findPage(deliveryRecords, { webhookId: _id }, request, { sort: { _id: -1 } }, toView);
};

/** Wakes the worker; a run that is about to end checks again. */
const lookNow = async (project: Pick<Project, 'id'>, _id: ObjectId, change: object = {}): Promise<void> => {
  const $set = { ...change, dueAt: new Date(clock.now()) };
  await webhookRecords.updateOne({ _id }, { $set, $inc: { nudges: 1 } });
  await wakeWebhookWorker(project.id);
};

/** Sends a test, even if the webhook is off; returns the log entry. */
export const testWebhook = async (project: Pick<Project, 'id'>, webhookId: string): Promise<DeliveryView> => {
  const { _id, projectId } = await requireWebhook(project, webhookId);
  const now = new Date(clock.now());
  const entry: DeliveryRecord = {
    _id: newId(),
    projectId,
    webhookId: _id,
    thing: `test/${newId().toHexString()}`,
    type: 'webhook.test',
    state: 'waiting',
    attempts: [],
    nextAt: now,
    marks: 1,
    createdAt: now,
  };
  await deliveryRecords.insertOne(entry);
  await lookNow(project, _id);
  return toView(entry);
};

const furthestBackMs = 30 * dayMs;

interface ReplayRequest {
  readonly since?: string | undefined;
  readonly deliveryId?: string | undefined;
}

const sinceOf = (text: string): Date => {
  const time = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  const now = clock.now();
  if (Number.isNaN(time))
    throw invalidWebhook('since', 'since must be a time as ISO text, such as 2026-01-31T12:00:00Z');
  if (time > now) throw invalidWebhook('since', 'since must not be in the future');
  if (time < now - furthestBackMs) throw invalidWebhook('since', 'since must be at most 30 days ago');
  return new Date(time);
};

const again = ({
  projectId,
  webhookId,
  thing,
  type,
  file,
  createdAt,
  at = createdAt,
}: DeliveryRecord): ResourceEvent => ({
  projectId,
  webhookId,
  thing,
  type,
  at,
  ...(file && { file }),
  isReplay: true,
  isNew: type.endsWith('.created'),
  from: new Date(clock.now()),
});

const replayDelivery = async (webhookId: ObjectId, deliveryId: string): Promise<void> => {
  const _id = idOf(deliveryId);
  const entry = _id && (await deliveryRecords.findOne({ _id, webhookId }));
  if (!entry) throw new AppError('DELIVERY_NOT_FOUND', 'Delivery not found');
  await enqueueDeliveries([again(entry)]);
};

const batch = 500;

/** Users and files have no feed, so the log provides their events. */
const replayLogged = async (webhookId: ObjectId, since: Date): Promise<void> => {
  const logged = { webhookId, createdAt: { $gte: since }, thing: /^(?:user|file)\// };
  let after = new ObjectId('0'.repeat(24));
  for (;;) {
    const entries = await deliveryRecords.find(
      { ...logged, _id: { $gt: after }, state: { $ne: 'waiting' }, isReplay: { $exists: false } },
      { sort: { _id: 1 }, limit: batch },
    );
    await enqueueDeliveries([...new Map(entries.map((entry) => [entry.thing, again(entry)])).values()]);
    const last = entries.at(-1);
    if (!last || entries.length < batch) return;
    after = last._id;
  }
};

/** Replays log entries; returns the update that makes the worker read the feeds again. */
const replaySince = async (project: Project, record: WebhookRecord, since: Date): Promise<object> => {
  const replay = { from: since, to: new Date(clock.now()) };
  const positions = await positionsAt(project, record, since);
  await replayLogged(record._id, since);
  return { ...Object.fromEntries(Object.entries(positions).map(([id, at]) => [`positions.${id}`, at])), replay };
};

/**
 * Replays documents changed since a time (at most 30 days ago), and logged users and files; or one delivery with its
 * current data. Throws 404 `DELIVERY_NOT_FOUND`, 400 `INVALID_WEBHOOK`.
 */
export const replayWebhook = async (
  project: Project,
  webhookId: string,
  { since: text, deliveryId }: ReplayRequest,
): Promise<void> => {
  if ((text === undefined) === (deliveryId === undefined)) {
    throw invalidWebhook('since', 'Send either since or deliveryId, not both.');
  }
  const record = await requireWebhook(project, webhookId);
  const { _id } = record;
  if (deliveryId !== undefined) await replayDelivery(_id, deliveryId);
  return lookNow(project, _id, text === undefined ? {} : await replaySince(project, record, sinceOf(text)));
};
