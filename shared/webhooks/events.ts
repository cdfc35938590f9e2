import { type AnyBulkWriteOperation, ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { webhookQueueSettings } from '../core/config.ts';
import { isClientError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { tryOrLog } from '../core/log.ts';
import { onDuplicateKey, retryOnConflict } from '../core/retry.ts';
import { sendDelayed, wakeUps } from '../persistence/wake.ts';
import type { EventKind, Project } from '../projects/project.ts';
import { kindOf, type WebhookEvent } from './event-types.ts';
import { type DeliveryRecord, deliveryRecords, webhookRecords } from './records.ts';

const maxDelaySeconds = 900;

/** Queues a check of a project's webhooks, or of one webhook. Ids are 24 hex characters. */
export const queueWebhookCheck = async (
  what: { readonly projectId: string } | { readonly webhookId: string },
  seconds: number,
): Promise<void> => {
  const { WEBHOOK_QUEUE_URL } = webhookQueueSettings();
  await sendDelayed(WEBHOOK_QUEUE_URL, JSON.stringify(what), Math.min(seconds, maxDelaySeconds));
};

const wakeUp = wakeUps('Webhooks wait for the clock', (projectId, seconds) =>
  queueWebhookCheck({ projectId }, seconds),
);

/** Wakes the worker after a write. Never fails; the schedule covers lost messages. */
export const wakeWebhookWorker = wakeUp.wake;

/** For tests. */
export const forgetWakeUps = wakeUp.forget;

/** One webhook's event about a resource. */
export interface ResourceEvent
  extends Pick<DeliveryRecord, 'projectId' | 'webhookId' | 'thing' | 'type'>,
    Required<Pick<DeliveryRecord, 'at'>>,
    Partial<Pick<DeliveryRecord, 'isNew' | 'isReplay' | 'lastView' | 'file'>> {
  /** Earliest time to send; a pending entry keeps its time. */
  readonly from: Date;
  /** The write that is in progress, until `from` at the latest. */
  readonly ahead?: ObjectId;
}

const writeOf = (
  { webhookId, thing, projectId, type, from, isNew, ahead, ...details }: ResourceEvent,
  _id: ObjectId,
): AnyBulkWriteOperation<DeliveryRecord> => ({
  updateOne: {
    filter: { webhookId, thing, state: 'waiting' },
    update: {
      $inc: { marks: 1 },
      $set: details,
      ...(ahead && { $addToSet: { ahead: { by: ahead, until: from } } }),
      $setOnInsert: {
        _id,
        projectId,
        type,
        attempts: [],
        nextAt: from,
        createdAt: new Date(clock.now()),
        ...(isNew && { isNew }),
      },
    },
    upsert: true,
  },
});

/**
 * Adds events to the log: to the pending entry of the resource, or as a new one. Returns the new entries' ids.
 * Idempotent.
 */
export const enqueueDeliveries = async (events: readonly ResourceEvent[]): Promise<readonly ObjectId[]> => {
  if (events.length === 0) return [];
  const writes = events.map((one) => writeOf(one, newId()));
  // Concurrent upserts of the same resource can violate the unique index.
  const { upsertedIds } = await retryOnConflict(
    'Too many changes are being made to these at the same time. Retry.',
    () => onDuplicateKey(deliveryRecords.bulkWrite(writes, { ordered: false }), () => null),
  );
  return Object.values(upsertedIds);
};

export interface WebhookSource extends Pick<ResourceEvent, 'thing' | 'isNew' | 'lastView' | 'file'> {
  readonly event: Exclude<WebhookEvent, `document.${string}`>;
}

/** Longer than any request: by then, reading the resource shows the result of the write. */
const unknownForMs = 60_000;

export const isHooked = ({ hooks = [] }: Pick<Project, 'hooks'>, kind: EventKind): boolean => hooks.includes(kind);

const wantedBy = (project: Pick<Project, 'id'>, event: WebhookEvent): Promise<{ readonly _id: ObjectId }[]> => {
  const mine = { projectId: new ObjectId(project.id), enabled: true, events: event };
  return webhookRecords.find(mine, { projection: { _id: 1 } });
};

/** Matches pending entries, and removes this write's mark from them. */
const pendingWithout = (events: readonly ResourceEvent[], thing: string, by: ObjectId) => ({
  filter: { webhookId: { $in: events.map(({ webhookId }) => webhookId) }, thing, state: 'waiting' as const },
  ahead: { $filter: { input: { $ifNull: ['$ahead', []] }, cond: { $ne: ['$$this.by', by] } } },
});

/**
 * Marks the deliveries as due. Deliveries in flight may contain the old state, so they are sent again; a failing
 * receiver keeps its delay. If this fails, the entries are due after a minute.
 */
const markDue = async (
  { id }: Pick<Project, 'id'>,
  thing: string,
  events: readonly ResourceEvent[],
  by: ObjectId,
): Promise<void> => {
  const now = new Date(clock.now());
  await tryOrLog('warn', { message: 'Webhooks are told a minute later', project: id }, async () => {
    const { filter, ahead } = pendingWithout(events, thing, by);
    const nextAt = { $cond: [{ $eq: ['$attempts', []] }, { $min: ['$nextAt', now] }, '$nextAt'] };
    const { matchedCount } = await deliveryRecords.updateMany(filter, [
      { $set: { ahead, nextAt, marks: { $add: ['$marks', 1] } } },
    ]);
    // The entries may have ended meanwhile.
    if (matchedCount < events.length)
      await enqueueDeliveries(events.map(({ ahead: _, ...one }) => ({ ...one, from: now })));
  });
  await wakeWebhookWorker(id);
};

/** The write was rejected, so there is no event. If the outcome is unknown, the worker reads the resource. */
const withdraw = async (
  thing: string,
  events: readonly ResourceEvent[],
  by: ObjectId,
  entries: readonly ObjectId[],
): Promise<void> => {
  const { filter, ahead } = pendingWithout(events, thing, by);
  await deliveryRecords.bulkWrite([
    { deleteMany: { filter: { _id: { $in: [...entries] }, marks: 1 } } },
    { updateMany: { filter, update: [{ $set: { ahead } }] } },
  ]);
};

/**
 * Runs a write that webhooks may subscribe to. Events are stored first, so that no successful write is lost wherever a
 * run ends; the worker detects failed writes by reading the resource. Without such webhooks it only runs the write;
 * otherwise it costs three commands and a message.
 */
export const withWebhookEvent = async <T>(
  project: Pick<Project, 'id' | 'hooks'>,
  { event, ...details }: WebhookSource,
  write: () => Promise<T>,
  hasHappened: (written: T) => boolean = () => true,
): Promise<T> => {
  if (!isHooked(project, kindOf(event))) return write();
  const projectId = new ObjectId(project.id);
  const at = new Date(clock.now());
  const from = new Date(at.getTime() + unknownForMs);
  const ahead = newId();
  const webhooks = await wantedBy(project, event);
  const events: ResourceEvent[] = webhooks.map(({ _id }) => ({
    ...details,
    projectId,
    webhookId: _id,
    type: event,
    at,
    from,
    ahead,
  }));
  const entries = await enqueueDeliveries(events);
  let happened = false;
  let isKnown = true;
  try {
    const written = await write();
    happened = hasHappened(written);
    return written;
  } catch (error) {
    isKnown = isClientError(error);
    throw error;
  } finally {
    if (happened) await markDue(project, details.thing, events, ahead);
    else if (isKnown) await withdraw(details.thing, events, ahead, entries).catch(() => undefined);
  }
};
