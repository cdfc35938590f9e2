import { ObjectId } from 'mongodb';
import type { Collection, Field } from '../../collections/collection.ts';
import { findCollections } from '../../collections/find-collections.ts';
import { usersCollection } from '../../collections/names.ts';
import { rightsOf } from '../../collections/schema/field-rights.ts';
import { emailVerifiedField, hiddenUserFields } from '../../collections/schema/users.ts';
import { memoizeByObject } from '../../core/cache.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { unreadableFor, withoutUnreadable } from '../../documents/access/field-rights.ts';
import { knowUser } from '../../documents/access/rules-of.ts';
import { type Document, nextOf, revisionField } from '../../documents/document.ts';
import type { Removed } from '../../documents/store/cascade-records.ts';
import { wireDocument } from '../../documents/wire.ts';
import { plainName } from '../../mail/content.ts';
import { projectScope } from '../../persistence/item-keys.ts';
import { onManaged } from '../../persistence/mongo.ts';
import { type Records, recordsOf } from '../../persistence/records.ts';
import type { Caller, Project } from '../../projects/project.ts';
import { open, seal } from '../../projects/sealed.ts';
import { enabledProviders } from '../../projects/social/provider-rules.ts';
import { isHooked, type WebhookSource, withWebhookEvent } from '../../webhooks/events.ts';
import {
  type AccountFilter,
  type AccountRecord,
  type AccountStore,
  accountStore,
  type MailOrigin,
} from '../account-store.ts';
import type { SigningStore } from '../sign-in.ts';
import type { OpenMethods } from '../step-up.ts';
import { issueAccessToken } from '../tokens.ts';

/** A document of a project's `users` collection. */
export interface UserRecord extends AccountRecord {
  readonly password?: string;
  readonly planSlot?: number;
  readonly isDeleted?: boolean;
}

/** Includes users that an import has left in the trash. */
export const userRecords = (project: Project): Records<UserRecord> =>
  recordsOf((operation) => onManaged(project, (db) => operation(db.collection<UserRecord>(usersCollection), db)));

const ownRoutes: ReadonlySet<string> = new Set(['email', 'password', emailVerifiedField]);

/** Schema fields that users may set. */
export const profileFields = ({ schema }: Collection): readonly Field[] =>
  (schema ?? []).filter(({ key }) => !ownRoutes.has(key) && !hiddenUserFields.has(key));

/** What users see of themselves. */
export interface UserView {
  readonly _id: string;
  readonly emailVerified: boolean;
  readonly [field: string]: unknown;
}

const shownIn = memoizeByObject(
  (users: Collection) => new Set(['email', ...profileFields(users).map(({ key }) => key), 'createdAt', 'updatedAt']),
);

/** The fields that users see of themselves; everything else, such as hashes, stays private. */
export const userView = (users: Collection, record: UserRecord): UserView => {
  const shown = shownIn(users);
  const view: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(record)) if (shown.has(key)) view[key] = value;
  const isAnonymous = record._signIn?.anonymous !== undefined;
  return {
    ...wireDocument(view),
    _id: record._id.toHexString(),
    emailVerified: record.emailVerified === true,
    ...(isAnonymous && { isAnonymous }),
  };
};

/** `userView` without the fields that the user may not read. */
export const ownView = async (project: Project, users: Collection, record: UserRecord): Promise<UserView> => {
  const view = userView(users, record);
  if (rightsOf(users).read.length === 0) return view;
  const caller: Caller = { kind: 'publishable', userId: view._id };
  // Field rules use this record.
  knowUser(caller, { ...record });
  const unreadable = await unreadableFor({ project, collection: users, caller });
  return unreadable ? withoutUnreadable(unreadable, view, record as Document) : view;
};

/** Throws 403 `AUTH_DISABLED` if accounts are off or the collection is missing. */
export const requireUsers = async (project: Project): Promise<Collection> => {
  if (!project.authEnabled) {
    throw new AppError(
      'AUTH_DISABLED',
      'User accounts are not enabled for this project. Turn them on with authEnabled: PATCH /api/projects/:projectId on the dashboard API.',
    );
  }
  const users = (await findCollections(project, [usersCollection])).get(usersCollection);
  if (users) return users;
  throw new AppError(
    'AUTH_DISABLED',
    'User accounts need the collection users. Create it with the dashboard API: POST /api/projects/:projectId/collections.',
  );
};

/** The end of an account, for documents that refer to it. */
export const removalOfUser = (_id: ObjectId): Removed => ({
  collection: usersCollection,
  ids: [_id],
  kind: 'delete',
  wasActive: true,
  at: new Date(clock.now()),
});

/** Runs a write and enqueues its webhook event. */
export const withUserEvent = <T>(
  project: Project,
  event: WebhookSource['event'],
  _id: ObjectId,
  write: () => Promise<T>,
  said: Partial<WebhookSource> = {},
  hasHappened?: (written: T) => boolean,
): Promise<T> => withWebhookEvent(project, { event, thing: `user/${_id.toHexString()}`, ...said }, write, hasHappened);

/** Adds webhook events if the project has webhooks for users. */
const accountsWithEvents = (project: Project, store: AccountStore<UserRecord>): AccountStore<UserRecord> => {
  if (!isHooked(project, 'user')) return store;
  const told = async <T>(filter: AccountFilter, write: () => Promise<T>): Promise<T> => {
    const _id = filter._id instanceof ObjectId ? filter._id : (await store.find(filter))?._id;
    return _id ? withUserEvent(project, 'user.updated', _id, write, {}, Boolean) : write();
  };
  return {
    ...store,
    change: (filter, change) => told(filter, () => store.change(filter, change)),
    write: (filter, change) => told(filter, () => store.write(filter, change)),
  };
};

/** From our shared address, names must be plain, and sites are only linked for verified developers. */
const mailOrigin = (project: Project): MailOrigin => {
  const usingByok = project.sealedProviderApiKey !== null;
  return {
    project,
    siteName: usingByok ? project.name : plainName(project.name),
    siteUrl: usingByok || project.ownerVerified ? project.siteUrl : null,
    usingByok,
  };
};

export const userAccounts = (project: Project): AccountStore<UserRecord> => {
  const kind = {
    scope: projectScope(project.id),
    hashField: 'password',
    mailOrigin: () => mailOrigin(project),
    hasCheckedSession: false,
    counts: { [revisionField]: 1 },
  } as const;
  const present = { condition: { isDeleted: { $ne: true } }, has: ({ isDeleted }: UserRecord) => isDeleted !== true };
  return accountsWithEvents(project, accountStore(kind, present, userRecords(project)));
};

export const userSignInMethods = ({ signIn, socialProviders }: Project): OpenMethods => ({
  ...signIn,
  providers: enabledProviders(socialProviders),
});

export const userSignIns = (project: Project): SigningStore<UserRecord> => ({
  ...userAccounts(project),
  issueToken: (bearer) => issueAccessToken(project, bearer),
});

/** Last view of a deleted user, and the revision of the deletion. */
interface LastView {
  readonly user: UserView;
  readonly rev: number;
}

const boundTo = (id: string): string => `${id}/last view`;

/** Sealed, because nothing else of a deleted user may remain. */
export const sealLastView = (users: Collection, record: UserRecord): Promise<string> =>
  seal(
    JSON.stringify({ user: userView(users, record), rev: nextOf({ ...record }) } satisfies LastView),
    boundTo(record._id.toHexString()),
  );

/** `id` is the user's. */
export const lastViewOf = async (id: string, sealed: string): Promise<LastView> =>
  JSON.parse(await open(sealed, boundTo(id)));
