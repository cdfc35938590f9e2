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

export interface WithCollection {
  readonly collection: Collection;
}

export interface WithAccess {
  readonly access: AccessContext;
}

export const usersReserved = (): AppError =>
  new AppError('USERS_RESERVED', 'The users collection is only available under /api/userAuth.');

export const usersBlock = (): Middleware<unknown, void> => ({
  before: ({ event }) => {
    if (isUsersName(event.pathParameters?.collectionName ?? '')) throw usersReserved();
  },
});

/** Adds the collection in the path; 404 if it does not exist. */
export const collection = (): Middleware<Keyed, WithCollection> => ({
  before: ({ event, context }) => {
    if (!context.namedCollection) throw collectionNotFound(event.pathParameters?.collectionName ?? '');
    return { collection: context.namedCollection };
  },
});

/** Returns the collections that a body names, with one query. Throws 403 for `users`, 404 for an unknown one. */
export const namedCollections = async (project: Project, names: readonly string[]): Promise<readonly Collection[]> => {
  if (names.some(isUsersName)) throw usersReserved();
  const found = await findCollections(project, names.filter(isCollectionName));
  return names.map((name) => {
    const collection = found.get(name);
    if (!collection) throw collectionNotFound(name);
    return collection;
  });
};

/** The collection of a document that a request names. Throws 403 for `users`, 404 for an unknown one. */
export const namedCollection = (project: Project, name: string): Promise<Collection> => {
  if (isUsersName(name)) throw usersReserved();
  return requireCollection(project, name);
};

/**
 * Adds the collection in the path with the access of the secret key; 404 if it does not exist. Writes read the current
 * record; reads may use one that is up to 5 s old.
 */
export const ownedCollection = (route: Route): Middleware<WithOwnedProject, WithCollection & WithAccess> => {
  const find = isRead(route) ? requireCollection : loadCollection;
  return {
    before: async ({ event, context }) => {
      const { project } = context.owned;
      const collection = await find(project, event.pathParameters?.collectionName ?? '');
      return { collection, access: { project, collection, caller: { kind: 'secret' } } };
    },
  };
};

/**
 * After a successful write, wakes the webhook worker if a webhook subscribes to documents. At most one message a
 * second. The worker also finds the events without it, in the collection's feed.
 */
export const notifyWebhooks = (): Middleware<unknown, Partial<WithAccess>> => ({
  before: () => ({}),
  after: async ({ context: { access }, response }) => {
    if (access && response && response.statusCode < 300) await wakeForDocuments(access.project, [access.collection]);
  },
});

/** Wakes the webhook worker after writes of collections, if a webhook subscribes to documents. */
export const wakeForDocuments = async (
  project: Project,
  collections: readonly Pick<Collection, 'feed'>[],
): Promise<void> => {
  const isFed = collections.some(({ feed }) => feed?.on);
  if (isFed && isHooked(project, 'document')) await wakeWebhookWorker(project.id);
};

/** The query parameter that names another caller. */
export const viewParameter = 'view_as';

/** Its value for a caller with the publishable key and without a user. */
const withoutUser = 'publishable';

/**
 * The access of another caller, so that developers see what their app shows: `publishable`, or the id of a user who
 * has signed in with a second factor. For reads only: the result is a part of what the developer reads anyway, and no
 * token is issued.
 */
export const viewedAs = (access: AccessContext, as: string | undefined): AccessContext => {
  if (as === undefined) return access;
  if (isUsersName(access.collection.name)) throw usersReserved();
  return {
    ...access,
    caller: { kind: 'publishable', ...(as !== withoutUser && { userId: as.toLowerCase(), mfa: true as const }) },
  };
};
