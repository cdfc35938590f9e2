import type { Collection } from '../collections/collection.ts';
import { toCollection } from '../collections/collection-record.ts';
import { activeIn, collectionRecords } from '../collections/control-collections.ts';
import { usersCollection } from '../collections/schema/collection-name.ts';
import { AppError } from '../core/errors.ts';
import { atOf, timestamp } from '../documents/changes/find-changes.ts';
import { beginOf, positionOfNow } from '../documents/changes/list-changes.ts';
import { before, type FeedPosition } from '../documents/changes/position.ts';
import { kindsOf } from '../events/event-types.ts';
import type { StoredPosition, WebhookRecord } from '../events/webhook-record.ts';
import { databaseOf } from '../projects/database-of.ts';
import type { Caller, Project } from '../projects/project.ts';

/** A collection with a changes feed; what the webhook says of it is kept by its id. */
export type Fed = Collection & Required<Pick<Collection, 'id'>> & { readonly feed: NonNullable<Collection['feed']> };

type Listening = Pick<WebhookRecord, 'events' | 'collections'>;

const isFed = (collection: Collection): collection is Fed =>
  collection.id !== undefined && collection.feed?.on === true;

/** The collections of a project that have a changes feed, as they are now. */
const fedCollections = async (project: Pick<Project, 'id'>): Promise<readonly Fed[]> => {
  const found = await collectionRecords.find({ ...activeIn(project), 'feed.on': true });
  return found.map(toCollection).filter(isFed);
};

/** The collections whose changes a webhook is told of: those it names, or all that have a feed. */
export const listenedTo = async (
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
      `The collection "${name}" has no changes feed, by which webhooks learn of its documents. ${way}`,
      { errors: [{ field: 'collections', message: `"${name}" has no changes feed` }] },
    );
  }
};

const everything: Caller = { kind: 'secret' };

/** More than a feed shows in the time that it looks back, but for the busiest: those look back for less. */
const maxShown = 5000;

export const storedPosition = (project: Project, { after, shown }: FeedPosition): StoredPosition => {
  const kept = shown.slice(-maxShown);
  const settled = shown[shown.length - kept.length - 1] ?? after;
  return { database: databaseOf(project), after: timestamp(settled), shown: kept.map(timestamp) };
};

/** The clocks of the service and of its database, which gives the places, differ by less. */
export const skewSeconds = 5;

const movedTo = ({ placement: { since = new Date(0) } }: Project): FeedPosition => ({
  after: before(Math.floor(since.getTime() / 1000) - skewSeconds),
  shown: [],
});

/**
 * Where a webhook goes on in a collection: where it was; in another database at the time of the move there; and at the
 * beginning of a feed that was switched on, or made, later than that.
 */
export const positionIn = (project: Project, { feed }: Fed, stored: StoredPosition | undefined): FeedPosition => {
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
