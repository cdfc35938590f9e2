import type { Collection } from '../collections/collection.ts';
import { activeIn, collectionRecords, toCollection } from '../collections/collection-record.ts';
import { usersCollection } from '../collections/names.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { describeError, log } from '../core/log.ts';
import { positionOfNow } from '../documents/store/changes.ts';
import { atOf, beginOf, findMoved, type Moved, timestamp } from '../documents/store/feed.ts';
import { before, type FeedPosition, movedOn, secondsAt } from '../documents/store/feed-position.ts';
import { changeHeld, type Leased } from '../persistence/lease.ts';
import { databaseOf } from '../persistence/mongo.ts';
import type { Caller, Project } from '../projects/project.ts';
import { kindsOf, type WebhookEvent } from './event-types.ts';
import { enqueueDeliveries, type ResourceEvent } from './events.ts';
import { deliveryRecords, leasedWebhooks, type StoredPosition, type WebhookRecord } from './records.ts';

/** Webhooks store positions by the collection's id. */
type WithFeed = Collection & Required<Pick<Collection, 'id'>> & { readonly feed: NonNullable<Collection['feed']> };

type Subscription = Pick<WebhookRecord, 'events' | 'collections'>;

const hasFeed = (collection: Collection): collection is WithFeed =>
  collection.id !== undefined && collection.feed?.on === true;

const collectionsWithFeed = async (project: Pick<Project, 'id'>): Promise<readonly WithFeed[]> => {
  const found = await collectionRecords.find({ ...activeIn(project), 'feed.on': true });
  return found.map(toCollection).filter(hasFeed);
};

const subscribedCollections = async (
  project: Pick<Project, 'id'>,
  { events, collections }: Subscription,
): Promise<readonly WithFeed[]> => {
  if (!kindsOf(events).includes('document')) return [];
  const found = await collectionsWithFeed(project);
  return collections ? found.filter(({ name }) => collections.includes(name)) : found;
};

/** Throws 409 `CHANGES_NOT_ENABLED`, or 404, for the webhook's collections. */
export const requireFeeds = async (project: Pick<Project, 'id'>, { collections = [] }: Subscription): Promise<void> => {
  if (collections.length === 0) return;
  const records = await collectionRecords.find({ ...activeIn(project), name: { $in: [...collections] } });
  const known = new Map(records.map((record) => [record.name, toCollection(record)]));
  for (const name of collections) {
    const collection = known.get(name);
    if (!collection) throw new AppError('COLLECTION_NOT_FOUND', `This project has no collection "${name}".`);
    if (hasFeed(collection)) continue;
    const way =
      name === usersCollection
        ? 'For users, subscribe to user.created, user.updated and user.deleted.'
        : 'Turn it on in the console, on the page Schema of the collection, or set "changes": true with the dashboard API.';
    throw new AppError(
      'CHANGES_NOT_ENABLED',
      `The collection "${name}" has no changes feed, which webhooks need. ${way}`,
      { errors: [{ field: 'collections', message: `"${name}" has no changes feed. ${way}` }] },
    );
  }
};

const everything: Caller = { kind: 'secret' };

/** More than a feed returns within its look-back time; the busiest feeds look back less. */
const maxShown = 5000;

const storedPosition = (project: Project, { after, shown }: FeedPosition): StoredPosition => {
  const kept = shown.slice(-maxShown);
  const settled = shown[shown.length - kept.length - 1] ?? after;
  return { database: databaseOf(project), after: timestamp(settled), shown: kept.map(timestamp) };
};

/** Maximum clock skew between the service and the database, which sets positions. */
const skewSeconds = 5;

const movedTo = ({ placement: { since = new Date(0) } }: Project): FeedPosition => ({
  after: before(Math.floor(since.getTime() / 1000) - skewSeconds),
  shown: [],
});

/** Continues at the stored position; in another database, at the time of the move; never before the feed's start. */
const positionIn = (project: Project, { feed }: WithFeed, stored: StoredPosition | undefined): FeedPosition => {
  const begin = beginOf(feed);
  if (!stored) return begin;
  const isThere = stored.database === databaseOf(project);
  const known = isThere ? { after: atOf(stored.after), shown: stored.shown.map(atOf) } : movedTo(project);
  return known.after < begin.after ? begin : known;
};

/** Positions for events from now on; those in `kept` stay. */
export const positionsOfNow = async (
  project: Project,
  subscription: Subscription,
  kept: WebhookRecord['positions'] = {},
): Promise<WebhookRecord['positions']> => {
  const found = await subscribedCollections(project, subscription);
  const entries = found.map(async (collection) => {
    const { id } = collection;
    const now = async () =>
      storedPosition(
        project,
        await positionOfNow({ project, collection, caller: everything }, beginOf(collection.feed)),
      );
    return [id, kept[id] ?? (await now())] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
};

export const positionsAt = async (
  project: Project,
  subscription: Subscription,
  since: Date,
): Promise<WebhookRecord['positions']> => {
  const found = await subscribedCollections(project, subscription);
  const from = { after: before(Math.floor(since.getTime() / 1000)), shown: [] };
  return Object.fromEntries(found.map(({ id }) => [id, storedPosition(project, from)]));
};

const pageSize = 200;

/** Slightly less than log entries are kept. */
const loggedSeconds = 29 * 86_400;

const documentThing = (collectionName: string, id: string): string => `document/${collectionName}/${id}`;

/** Log entries of resources, to know whether the receiver has heard of them. */
const loggedDeliveries = async ({ _id }: WebhookRecord, things: readonly string[]) => {
  const entries = await deliveryRecords.find(
    { webhookId: _id, thing: { $in: [...things] } },
    { projection: { thing: 1, state: 1, isNew: 1 } },
  );
  return Map.groupBy(entries, ({ thing }) => thing);
};

/** True if a document was created after the webhook started reading. */
const isCreatedSince = ({ rev, createdAt }: Moved, since: number): boolean =>
  rev === 1 || (createdAt !== undefined && createdAt.getTime() / 1000 >= since);

const typeOf = ({ isDeleted }: Moved, isNew: boolean, events: readonly WebhookEvent[]): WebhookEvent => {
  if (isDeleted) return 'document.deleted';
  return isNew && events.includes('document.created') ? 'document.created' : 'document.updated';
};

/** From when the log would contain the document's creation. */
const beganAt = ({ createdAt }: WebhookRecord, read: number): number =>
  Math.max(read - skewSeconds, createdAt.getTime() / 1000, clock.now() / 1000 - loggedSeconds);

/** The events in a page of changes that the webhook subscribes to. */
const eventsIn = async (
  webhook: WebhookRecord,
  { name }: WithFeed,
  moved: readonly Moved[],
  { after }: FeedPosition,
): Promise<ResourceEvent[]> => {
  const { _id: webhookId, projectId, events, replay } = webhook;
  const isReplay = replay !== undefined && secondsAt(after) * 1000 < replay.to.getTime();
  const since = isReplay ? replay.from.getTime() / 1000 : beganAt(webhook, secondsAt(after));
  const logged = await loggedDeliveries(
    webhook,
    moved.map(({ _id }) => documentThing(name, _id.toHexString())),
  );
  const from = new Date(clock.now());
  return moved.flatMap((one) => {
    const thing = documentThing(name, one._id.toHexString());
    const entries = isReplay ? [] : (logged.get(thing) ?? []);
    const isNew =
      entries.length === 0
        ? isCreatedSince(one, since)
        : entries.some((entry) => entry.isNew) && !entries.some(({ state }) => state === 'delivered');
    const type = typeOf(one, isNew, events);
    // An update right after a creation that the webhook does not subscribe to is not an event yet.
    const isSkipped = !events.includes(type) || (isNew && one.rev === 1 && type === 'document.updated');
    if (isSkipped) return [];
    const said = { isNew: type === 'document.created', ...(isReplay && { isReplay: true as const }) };
    return [{ webhookId, projectId, thing, type, at: one.at, from, ...said }];
  });
};

/** Edits and replays of the webhook set their own positions. */
const unchanged: Leased<WebhookRecord> = { ...leasedWebhooks, while: ['updatedAt', 'replay.to'] };

const followFeed = async (project: Project, webhook: WebhookRecord, collection: WithFeed): Promise<boolean> => {
  let position = positionIn(project, collection, webhook.positions[collection.id]);
  const { moved, places, more } = await findMoved(project, collection, position, pageSize);
  if (places.length === 0 && webhook.positions[collection.id]) return false;
  await enqueueDeliveries(await eventsIn(webhook, collection, moved, position));
  position = movedOn(position, places, more);
  const stored = storedPosition(project, position);
  const isSaved = await changeHeld(unchanged, webhook, { $set: { [`positions.${collection.id}`]: stored } });
  return more || !isSaved;
};

/**
 * Reads the feeds of a leased webhook: stores events, then the positions, so that an interrupted run stores the same
 * events again. True if there is more to read. An unavailable customer's database delays only its own collections.
 */
export const followFeeds = async (project: Project, webhook: WebhookRecord): Promise<boolean> => {
  let more = false;
  for (const collection of await subscribedCollections(project, webhook)) {
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
