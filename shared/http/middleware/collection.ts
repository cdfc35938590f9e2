import type { Collection } from '../../collections/collection.ts';
import { collectionNotFound } from '../../collections/collection-record.ts';
import { findCollections, loadCollection, requireCollection } from '../../collections/find-collections.ts';
import { isCollectionName, isUsersName } from '../../collections/names.ts';
import { AppError } from '../../core/errors.ts';
import type { AccessContext } from '../../documents/access/access.ts';
import type { Project } from '../../projects/project.ts';
import { isHooked, wakeWebhookWorker } from '../../webhooks/events.ts';
import { isRead, type Route } from '../route.ts';
import type { Middleware } from '../stack.ts';
import type { Keyed } from './api-key.ts';
import type { WithOwnedProject } from './developer.ts';

/** Added by `collection` and `ownedCollection`. */
export interface WithCollection {
  readonly collection: Collection;
}

/** Added by `userToken` and `ownedCollection`. */
export interface WithAccess {
  readonly visit: AccessContext;
}

/** The refusal of the `users` collection on routes of documents (403). */
export const usersReserved = (): AppError =>
  new AppError('USERS_RESERVED', 'The users collection is only available under /api/userAuth.');

/** Blocks `/api/data/users*` for every key. */
export const usersBlock = (): Middleware<unknown, void> => ({
  before: ({ event }) => {
    if (isUsersName(event.pathParameters?.collectionName ?? '')) throw usersReserved();
  },
});

/** The collection that the path names; not registered → 404. */
export const collection = (): Middleware<Keyed, WithCollection> => ({
  before: ({ event, context }) => {
    if (!context.namedCollection) throw collectionNotFound(event.pathParameters?.collectionName ?? '');
    return { collection: context.namedCollection };
  },
});

/** The collections that a body names, as paths would; `users` → 403, not registered → 404. One query for all. */
export const namedCollections = async (project: Project, names: readonly string[]): Promise<readonly Collection[]> => {
  if (names.some(isUsersName)) throw usersReserved();
  const found = await findCollections(project, names.filter(isCollectionName));
  return names.map((name) => {
    const collection = found.get(name);
    if (!collection) throw collectionNotFound(name);
    return collection;
  });
};

/**
 * The collection of the developer's project that the path names, by the rules of the secret key; not registered → 404.
 * For what changes something as it is now, for what only reads as the public API knows it, which may be 5 s old.
 */
export const ownedCollection = (route: Route): Middleware<WithOwnedProject, WithCollection & WithAccess> => {
  const find = isRead(route) ? requireCollection : loadCollection;
  return {
    before: async ({ event, context }) => {
      const { project } = context.owned;
      const collection = await find(project, event.pathParameters?.collectionName ?? '');
      return { collection, visit: { project, collection, caller: { kind: 'secret' } } };
    },
  };
};

/**
 * After a successful write, wakes the webhook worker if any webhook subscribes to documents. It costs a message a
 * second; nothing depends on it, because the feed of the collection has the events.
 */
export const notifyWebhooks = (): Middleware<unknown, Partial<WithAccess>> => ({
  before: () => ({}),
  after: async ({ context: { visit }, response }) => {
    const isWritten = visit?.collection.feed?.on && response && response.statusCode < 300;
    if (isWritten && isHooked(visit.project, 'document')) await wakeWebhookWorker(visit.project.id);
  },
});
