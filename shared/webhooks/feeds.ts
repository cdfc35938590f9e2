import type { Collection } from '../collections/collection.ts';
import { activeIn, collectionRecords, toCollection } from '../collections/collection-record.ts';
import { usersCollection } from '../collections/names.ts';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { describeError, log } from '../core/log.ts';
import { atOf, beginOf, findMoved, type Moved, positionOfNow, timestamp } from '../documents/store/changes.ts';
import { before, type FeedPosition, movedOn, secondsAt } from '../documents/store/feed-position.ts';
import { changeHeld, type Leased } from '../persistence/lease.ts';
import { databaseOf } from '../persistence/mongo.ts';
import type { Caller, Project } from '../projects/project.ts';
import { kindsOf, type WebhookEvent } from './event-types.ts';
import { enqueueDeliveries, type ResourceEvent } from './events.ts';
import { deliveryRecords, leasedWebhooks, type StoredPosition, type WebhookRecord } from './records.ts';

/** A collection with a changes feed; what the webhook says of it is kept by its id. */
type Fed = Collection & Required<Pick<Collection, 'id'>> & { readonly feed: NonNullable<Collection['feed']> };

type Listening = Pick<WebhookRecord, 'events' | 'collections'>;

const isFed = (collection: Collection): collection is Fed =>
  collection.id !== undefined && collection.feed?.on === true;

/** The collections of a project that have a changes feed, as they are now. */
const fedCollections = async (project: Pick<Project, 'id'>): Promise<readonly Fed[]> => {
  const found = await collectionRecords.find({ ...activeIn(project), 'feed.on': true });
  return found.map(toCollection).filter(isFed);
};

/** The collections whose changes a webhook is told of: those it names, or all that have a feed. */
const listenedTo = async (
  project: Pick<Project, 'id'>,
  { events, collections }: Listening,
): Promise<readonly Fed[]> => {
  if (!kindsOf(events).includes('document')) return [];
  const fed = await fedCollections(project);
  return collections ? fed.filter(({ name }) => collections.includes(name)) : fed;
};

/** Each collection that a webhook names must have a feed: else 409 `CHANGES_NOT_ENABLED`, none of it → 404. */
export const requireFeeds = async (project: Pick<Project, 'id'>, { collections = [] }: Listening): Promise<void> => {
  if (collections.length === 0) return;
  const records = await collectionRecords.find({ ...activeIn(project), name: { $in: [...collections] } });
  const known = new Map(records.map((record) => [record.name, toCollection(record)]));
  for (const name of collections) {
    const collection = known.get(name);
    if (!collection) throw new AppError('COLLECTION_NOT_FOUND', `This project has no collection "${name}".`);
    if (isFed(collection)) continue;
    const way =
      name === usersCollection
        ? 'Webhooks are told of users by user.created, user.updated and user.deleted.'
        : 'Switch it on ("changes": true of the collection) on the dashboard API.';
    throw new AppError(
      'CHANGES_NOT_ENABLED',
      `The collection "${name}" has no changes feed, which webhooks need. ${way}`,
      { errors: [{ field: 'collections', message: `"${name}" has no changes feed` }] },
    );
  }
};

const everything: Caller = { kind: 'secret' };

/** More than a feed shows in the time that it looks back, but for the busiest: those look back for less. */
const maxShown = 5000;

const storedPosition = (project: Project, { after, shown }: FeedPosition): StoredPosition => {
  const kept = shown.slice(-maxShown);
  const settled = shown[shown.length - kept.length - 1] ?? after;
  return { database: databaseOf(project), after: timestamp(settled), shown: kept.map(timestamp) };
};

/** The clocks of the service and of its database, which gives the places, differ by less. */
const skewSeconds = 5;

const movedTo = ({ placement: { since = new Date(0) } }: Project): FeedPosition => ({
  after: before(Math.floor(since.getTime() / 1000) - skewSeconds),
  shown: [],
});

/**
 * Where a webhook goes on in a collection: where it was; in another database at the time of the move there; and at the
 * beginning of a feed that was switched on, or made, later than that.
 */
const positionIn = (project: Project, { feed }: Fed, stored: StoredPosition | undefined): FeedPosition => {
  const begin = beginOf(feed);
  if (!stored) return begin;
  const isThere = stored.database === databaseOf(project);
  const known = isThere ? { after: atOf(stored.after), shown: stored.shown.map(atOf) } : movedTo(project);
  return known.after < begin.after ? begin : known;
};

/** The positions of a webhook that is told of what comes from now on; those in `kept` stay what they are. */
export const positionsOfNow = async (
  project: Project,
  listening: Listening,
  kept: WebhookRecord['positions'] = {},
): Promise<WebhookRecord['positions']> => {
  const fed = await listenedTo(project, listening);
  const entries = fed.map(async (collection) => {
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

/** The positions of a webhook that is told once more of what changed since a time. */
export const positionsAt = async (
  project: Project,
  listening: Listening,
  since: Date,
): Promise<WebhookRecord['positions']> => {
  const fed = await listenedTo(project, listening);
  const from = { after: before(Math.floor(since.getTime() / 1000)), shown: [] };
  return Object.fromEntries(fed.map(({ id }) => [id, storedPosition(project, from)]));
};

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
): Promise<ResourceEvent[]> => {
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
    return [{ webhookId, projectId, thing, type, at: one.at, from, ...said }];
  });
};

/** What is changed of the webhook meanwhile, or asked for once more, sets positions of its own. */
const unchanged: Leased<WebhookRecord> = { ...leasedWebhooks, while: ['updatedAt', 'replay.to'] };

const followFeed = async (project: Project, webhook: WebhookRecord, collection: Fed): Promise<boolean> => {
  let position = positionIn(project, collection, webhook.positions[collection.id]);
  const { moved, places, more } = await findMoved(project, collection, position, pageSize);
  if (places.length === 0 && webhook.positions[collection.id]) return false;
  await enqueueDeliveries(await newsOf(webhook, collection, moved, position));
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
