import { type AnyBulkWriteOperation, ObjectId } from 'mongodb';
import { setBounded } from '../core/cache.ts';
import { clock } from '../core/clock.ts';
import { webhookQueueSettings } from '../core/config.ts';
import { isClientError } from '../core/errors.ts';
import { newId } from '../core/ids.ts';
import { tryOrLog } from '../core/log.ts';
import { onDuplicateKey, retryOnConflict } from '../core/retry.ts';
import { sendLater } from '../persistence/delayed-message.ts';
import type { EventKind, Project } from '../projects/project.ts';
import { kindOf, type WebhookEvent } from './event-types.ts';
import { type DeliveryRecord, deliveryRecords, webhookRecords } from './records.ts';

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
export const wakeWebhookWorker = async (projectId: string): Promise<void> => {
  const now = performance.now();
  const last = sent.get(projectId);
  if (last !== undefined && now < last) return;
  const wait = last !== undefined && now - last < quietMs ? 1 : 0;
  setBounded(sent, projectId, now + wait * 1000, remembered);
  const fields = { message: 'Webhooks wait for the clock', project: projectId };
  if (!(await tryOrLog('warn', fields, () => lookAt({ projectId }, wait)))) sent.delete(projectId);
};

/** Forgets what was sent; for tests that look at the next message. */
export const forgetWakeUps = (): void => sent.clear();

/** News of a thing for one webhook. */
export interface ResourceEvent
  extends Pick<DeliveryRecord, 'projectId' | 'webhookId' | 'thing' | 'type'>,
    Required<Pick<DeliveryRecord, 'at'>>,
    Partial<Pick<DeliveryRecord, 'isNew' | 'isReplay' | 'lastView' | 'file'>> {
  /** When it may be sent; what waits already keeps its time. */
  readonly from: Date;
  /** Who is about to write the thing, by `from` at the latest. */
  readonly ahead?: ObjectId;
}

const writeOf = (
  { webhookId, thing, projectId, type, from, isNew, ahead, ...said }: ResourceEvent,
  _id: ObjectId,
): AnyBulkWriteOperation<DeliveryRecord> => ({
  updateOne: {
    filter: { webhookId, thing, state: 'waiting' },
    update: {
      $inc: { marks: 1 },
      $set: said,
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
 * Has news wait: with the row of the same thing that waits already, or in a row of its own. Returns the ids of those.
 * May be repeated.
 */
export const enqueueDeliveries = async (news: readonly ResourceEvent[]): Promise<readonly ObjectId[]> => {
  if (news.length === 0) return [];
  const writes = news.map((one) => writeOf(one, newId()));
  // Two upserts of one thing can meet, of which the unique index then refuses one.
  const { upsertedIds } = await retryOnConflict('Too much is happening to these at once. Please try again.', () =>
    onDuplicateKey(deliveryRecords.bulkWrite(writes, { ordered: false }), () => null),
  );
  return Object.values(upsertedIds);
};

/** What is about to happen to a user or a file. */
export interface WebhookSource extends Pick<ResourceEvent, 'thing' | 'isNew' | 'lastView' | 'file'> {
  readonly event: Exclude<WebhookEvent, `document.${string}`>;
}

/** Longer than any request takes: who looks at the thing by then finds it as the write has left it. */
const unknownForMs = 60_000;

/** Whether a project has webhooks that are told of such things. */
export const isHooked = ({ hooks = [] }: Pick<Project, 'hooks'>, kind: EventKind): boolean => hooks.includes(kind);

const wantedBy = (project: Pick<Project, 'id'>, event: WebhookEvent): Promise<{ readonly _id: ObjectId }[]> => {
  const mine = { projectId: new ObjectId(project.id), enabled: true, events: event };
  return webhookRecords.find(mine, { projection: { _id: 1 } });
};

/** The rows of a thing that wait, and what is left of them without those who are about to write it by this id. */
const waitingWithout = (news: readonly ResourceEvent[], thing: string, by: ObjectId) => ({
  filter: { webhookId: { $in: news.map(({ webhookId }) => webhookId) }, thing, state: 'waiting' as const },
  ahead: { $filter: { input: { $ifNull: ['$ahead', []] }, cond: { $ne: ['$$this.by', by] } } },
});

/**
 * It has happened: no row waits any longer for want of that, and what waited already may just have been sent as it was
 * before, so it is marked; a receiver that failed keeps its pause. Where this fails it is looked at after a minute.
 */
const settle = async (
  { id }: Pick<Project, 'id'>,
  thing: string,
  news: readonly ResourceEvent[],
  by: ObjectId,
): Promise<void> => {
  const now = new Date(clock.now());
  await tryOrLog('warn', { message: 'Webhooks are told a minute later', project: id }, async () => {
    const { filter, ahead } = waitingWithout(news, thing, by);
    const nextAt = { $cond: [{ $eq: ['$attempts', []] }, { $min: ['$nextAt', now] }, '$nextAt'] };
    const { matchedCount } = await deliveryRecords.updateMany(filter, [
      { $set: { ahead, nextAt, marks: { $add: ['$marks', 1] } } },
    ]);
    // The rows that it was noted in may have ended meanwhile.
    if (matchedCount < news.length)
      await enqueueDeliveries(news.map(({ ahead: _, ...one }) => ({ ...one, from: now })));
  });
  await wakeWebhookWorker(id);
};

/** It was refused, so there is no news; where it is unknown what came of it, who delivers looks. */
const withdraw = async (
  thing: string,
  news: readonly ResourceEvent[],
  by: ObjectId,
  rows: readonly ObjectId[],
): Promise<void> => {
  const { filter, ahead } = waitingWithout(news, thing, by);
  await deliveryRecords.bulkWrite([
    { deleteMany: { filter: { _id: { $in: [...rows] }, marks: 1 } } },
    { updateMany: { filter, update: [{ $set: { ahead } }] } },
  ]);
};

/**
 * Writes something that webhooks of the project may be told of. What there will be news of is noted before it, so that
 * no write that was answered can be lost, wherever a run ends; a write that did not happen is found out by looking at
 * the thing. Without such webhooks it is the write alone; else it costs three commands and a message more.
 */
export const withWebhookEvent = async <T>(
  project: Pick<Project, 'id' | 'hooks'>,
  { event, ...said }: WebhookSource,
  write: () => Promise<T>,
  hasHappened: (written: T) => boolean = () => true,
): Promise<T> => {
  if (!isHooked(project, kindOf(event))) return write();
  const projectId = new ObjectId(project.id);
  const at = new Date(clock.now());
  const from = new Date(at.getTime() + unknownForMs);
  const ahead = newId();
  const webhooks = await wantedBy(project, event);
  const news: ResourceEvent[] = webhooks.map(({ _id }) => ({
    ...said,
    projectId,
    webhookId: _id,
    type: event,
    at,
    from,
    ahead,
  }));
  const rows = await enqueueDeliveries(news);
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
    if (happened) await settle(project, said.thing, news, ahead);
    else if (isKnown) await withdraw(said.thing, news, ahead, rows).catch(() => undefined);
  }
};
