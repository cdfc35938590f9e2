import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { describeError, log } from '../core/log.ts';
import { findMoved, type Moved } from '../documents/changes/find-moved.ts';
import { type FeedPosition, movedOn, secondsAt } from '../documents/changes/position.ts';
import { deliveryRecords } from '../events/delivery-record.ts';
import type { WebhookEvent } from '../events/event-types.ts';
import { letWait, type News } from '../events/waiting.ts';
import { leasedWebhooks, type WebhookRecord } from '../events/webhook-record.ts';
import type { Project } from '../projects/project.ts';
import { changeHeld, type Leased } from '../work/lease.ts';
import { type Fed, listenedTo, positionIn, skewSeconds, storedPosition } from './positions.ts';

const pageSize = 200;

/** A little less than rows of the log are kept. */
const loggedSeconds = 29 * 86_400;

const documentThing = (collectionName: string, id: string): string => `document/${collectionName}/${id}`;

/** What of things has been in the log, for whether their receiver was told of them. */
const toldOf = async ({ _id }: WebhookRecord, things: readonly string[]) => {
  const rows = await deliveryRecords.find(
    { webhookId: _id, thing: { $in: [...things] } },
    { projection: { thing: 1, state: 1, isNew: 1 } },
  );
  return Map.groupBy(rows, ({ thing }) => thing);
};

/** Whether a document was made since the webhook reads: later changes of it come from places further on. */
const isYoung = ({ rev, createdAt }: Moved, since: number): boolean =>
  rev === 1 || (createdAt !== undefined && createdAt.getTime() / 1000 >= since);

const typeOf = ({ isDeleted }: Moved, isNew: boolean, events: readonly WebhookEvent[]): WebhookEvent => {
  if (isDeleted) return 'document.deleted';
  return isNew && events.includes('document.created') ? 'document.created' : 'document.updated';
};

/** From when on a webhook that has read so far would have been told of a document, and the log would know. */
const beganAt = ({ createdAt }: WebhookRecord, read: number): number =>
  Math.max(read - skewSeconds, createdAt.getTime() / 1000, clock.now() / 1000 - loggedSeconds);

/** The news in a page of changes, of those kinds that the webhook is told of. */
const newsOf = async (
  webhook: WebhookRecord,
  { name }: Fed,
  moved: readonly Moved[],
  { after }: FeedPosition,
): Promise<News[]> => {
  const { _id: webhookId, projectId, events, replay } = webhook;
  const isReplay = replay !== undefined && secondsAt(after) * 1000 < replay.to.getTime();
  const since = isReplay ? replay.from.getTime() / 1000 : beganAt(webhook, secondsAt(after));
  const told = await toldOf(
    webhook,
    moved.map(({ _id }) => documentThing(name, _id.toHexString())),
  );
  const from = new Date(clock.now());
  return moved.flatMap((one) => {
    const thing = documentThing(name, one._id.toHexString());
    const rows = isReplay ? [] : (told.get(thing) ?? []);
    const isNew =
      rows.length === 0
        ? isYoung(one, since)
        : rows.some((row) => row.isNew) && !rows.some(({ state }) => state === 'delivered');
    const type = typeOf(one, isNew, events);
    // Of one that is new, whose creation nobody wants to know of, there is nothing to tell yet.
    const isSilent = !events.includes(type) || (isNew && one.rev === 1 && type === 'document.updated');
    if (isSilent) return [];
    const said = { isNew: type === 'document.created', ...(isReplay && { isReplay: true as const }) };
    return [{ webhookId, projectId, thing, type, from, ...said }];
  });
};

/** What is changed of the webhook meanwhile, or asked for once more, sets positions of its own. */
const unchanged: Leased<WebhookRecord> = { ...leasedWebhooks, while: ['updatedAt', 'replay.to'] };

const followFeed = async (project: Project, webhook: WebhookRecord, collection: Fed): Promise<boolean> => {
  let position = positionIn(project, collection, webhook.positions[collection.id]);
  const { moved, places, more } = await findMoved(project, collection, position, pageSize);
  if (places.length === 0 && webhook.positions[collection.id]) return false;
  await letWait(await newsOf(webhook, collection, moved, position));
  position = movedOn(position, places, more);
  const stored = storedPosition(project, position);
  const isSaved = await changeHeld(unchanged, webhook, { $set: { [`positions.${collection.id}`]: stored } });
  return more || !isSaved;
};

/**
 * Reads on in the feeds of a webhook that this run holds: notes what there is news of, and then how far it has come, so
 * that a run that is cut short in between notes the same once more. True where there is more to read. An own database
 * that does not answer is its owner's to fix, and keeps the others from nothing.
 */
export const followFeeds = async (project: Project, webhook: WebhookRecord): Promise<boolean> => {
  let more = false;
  for (const collection of await listenedTo(project, webhook)) {
    try {
      if (await followFeed(project, webhook, collection)) more = true;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log.warn({ job: 'deliver-webhooks', webhook: webhook._id.toHexString(), error: describeError(error) });
    }
  }
  if (webhook.replay && !more) await changeHeld(unchanged, webhook, { $unset: { replay: '' } });
  return more;
};
