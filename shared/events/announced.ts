import { ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { isClientError } from '../core/errors.ts';
import { orLog } from '../core/log.ts';
import { newId } from '../core/new-id.ts';
import type { EventKind, Project } from '../projects/project.ts';
import { deliveryRecords } from './delivery-record.ts';
import { kindOf, type WebhookEvent } from './event-types.ts';
import { nudgeWebhooks } from './nudge.ts';
import { letWait, type News } from './waiting.ts';
import { webhookRecords } from './webhook-record.ts';

/** What is about to happen to a user or a file. */
export interface Announcement extends Pick<News, 'thing' | 'isNew' | 'lastView' | 'file'> {
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
const waitingWithout = (news: readonly News[], thing: string, by: ObjectId) => ({
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
  news: readonly News[],
  by: ObjectId,
): Promise<void> => {
  const now = new Date(clock.now());
  await orLog('warn', { message: 'Webhooks are told a minute later', project: id }, async () => {
    const { filter, ahead } = waitingWithout(news, thing, by);
    const nextAt = { $cond: [{ $eq: ['$attempts', []] }, { $min: ['$nextAt', now] }, '$nextAt'] };
    const { matchedCount } = await deliveryRecords.updateMany(filter, [
      { $set: { ahead, nextAt, marks: { $add: ['$marks', 1] } } },
    ]);
    // The rows that it was noted in may have ended meanwhile.
    if (matchedCount < news.length) await letWait(news.map(({ ahead: _, ...one }) => ({ ...one, from: now })));
  });
  await nudgeWebhooks(id);
};

/** It was refused, so there is no news; where it is unknown what came of it, who delivers looks. */
const withdraw = async (
  thing: string,
  news: readonly News[],
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
export const announced = async <T>(
  project: Pick<Project, 'id' | 'hooks'>,
  { event, ...said }: Announcement,
  write: () => Promise<T>,
  hasHappened: (written: T) => boolean = () => true,
): Promise<T> => {
  if (!isHooked(project, kindOf(event))) return write();
  const projectId = new ObjectId(project.id);
  const from = new Date(clock.now() + unknownForMs);
  const ahead = newId();
  const webhooks = await wantedBy(project, event);
  const news: News[] = webhooks.map(({ _id }) => ({
    ...said,
    projectId,
    webhookId: _id,
    type: event,
    from,
    ahead,
  }));
  const rows = await letWait(news);
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
