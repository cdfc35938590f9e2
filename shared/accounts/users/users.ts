import { ObjectId } from 'mongodb';
import type { Collection, Field } from '../../collections/collection.ts';
import { findCollections } from '../../collections/find-collections.ts';
import { usersCollection } from '../../collections/names.ts';
import { rightsOf } from '../../collections/schema/field-rights.ts';
import { emailVerifiedField, hiddenUserFields } from '../../collections/schema/users.ts';
import { memoizeByObject } from '../../core/cache.ts';
import { AppError } from '../../core/errors.ts';
import { unreadableFor, withoutUnreadable } from '../../documents/access/field-rights.ts';
import { knowUser } from '../../documents/access/rules-of.ts';
import { type Document, nextOf, revisionField } from '../../documents/document.ts';
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

/** A document of a project's `users` collection: the fields of its schema, and what the service alone writes. */
export interface UserRecord extends AccountRecord {
  readonly password?: string;
  /** Numbers users if the plan limits them. */
  readonly planSlot?: number;
  readonly isDeleted?: boolean;
}

/** All users of a project, those included that an import has left in the trash. */
export const userRecords = (project: Project): Records<UserRecord> =>
  recordsOf((operation) => onManaged(project, (db) => operation(db.collection<UserRecord>(usersCollection), db)));

const ownRoutes: ReadonlySet<string> = new Set(['email', 'password', emailVerifiedField]);

/** The fields of the schema that users may set themselves. */
export const profileFields = ({ schema }: Collection): readonly Field[] =>
  (schema ?? []).filter(({ key }) => !ownRoutes.has(key) && !hiddenUserFields.has(key));

/** What users see of themselves: `_id` in 24 hex characters, the fields of the schema, and these. */
export interface UserView {
  readonly _id: string;
  readonly emailVerified: boolean;
  readonly [field: string]: unknown;
}

/** The names that `userView` shows. */
const shownIn = memoizeByObject(
  (users: Collection) => new Set(['email', ...profileFields(users).map(({ key }) => key), 'createdAt', 'updatedAt']),
);

/**
 * What users see of themselves (contract 3, "`me`"): `_id`, e-mail address, whether it is verified, the fields of the
 * schema and the dates. Whatever else the document holds, hashes above all, stays inside.
 */
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

/** What a user is shown of themselves: what `userView` has, without fields that they may not read. */
export const ownView = async (project: Project, users: Collection, record: UserRecord): Promise<UserView> => {
  const view = userView(users, record);
  if (rightsOf(users).read.length === 0) return view;
  const caller: Caller = { kind: 'publishable', userId: view._id };
  // The rules see the record that is shown.
  knowUser(caller, { ...record });
  const unreadable = await unreadableFor({ project, collection: users, caller });
  return unreadable ? withoutUnreadable(unreadable, view, record as Document) : view;
};

/** The `users` collection of a project whose accounts are in use; without it, or auth off → 403 `AUTH_DISABLED`. */
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

/** Writes something of a user that the project's webhooks may be told of. */
export const withUserEvent = <T>(
  project: Project,
  event: WebhookSource['event'],
  _id: ObjectId,
  write: () => Promise<T>,
  said: Partial<WebhookSource> = {},
  hasHappened?: (written: T) => boolean,
): Promise<T> => withWebhookEvent(project, { event, thing: `user/${_id.toHexString()}`, ...said }, write, hasHappened);

/** The accounts whose changes the project's webhooks are told of, where it has such; else they are what they were. */
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

/**
 * With the key that all share anybody could have our address say a name and lead to a site of theirs, so the name is a
 * plain one, and the site that of a developer who can be reached.
 */
const mailOrigin = (project: Project): MailOrigin => {
  const usingByok = project.sealedProviderApiKey !== null;
  return {
    project,
    siteName: usingByok ? project.name : plainName(project.name),
    siteUrl: usingByok || project.ownerVerified ? project.siteUrl : null,
    usingByok,
  };
};

/** The users of a project: `users` of its own database of ours, where an import may have left some in the trash. */
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

/** With what users of a project may sign in now. */
export const userSignInMethods = ({ signIn, socialProviders }: Project): OpenMethods => ({
  ...signIn,
  providers: enabledProviders(socialProviders),
});

/** The same, signing access tokens with the project's own key. */
export const userSignIns = (project: Project): SigningStore<UserRecord> => ({
  ...userAccounts(project),
  issueToken: (bearer) => issueAccessToken(project, bearer),
});

/** What is left to say of a user who is deleted, and the revision that the deletion stands for. */
interface LastView {
  readonly user: UserView;
  readonly rev: number;
}

const boundTo = (id: string): string => `${id}/last view`;

/** What webhooks are told of a user who is about to be deleted, sealed, as nothing else of them may stay. */
export const sealLastView = (users: Collection, record: UserRecord): Promise<string> =>
  seal(
    JSON.stringify({ user: userView(users, record), rev: nextOf({ ...record }) } satisfies LastView),
    boundTo(record._id.toHexString()),
  );

/** The same opened; `id` is the user's. */
export const lastViewOf = async (id: string, sealed: string): Promise<LastView> =>
  JSON.parse(await open(sealed, boundTo(id)));
