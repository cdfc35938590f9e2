import { type Filter, type Document as MongoDocument, ObjectId } from 'mongodb';
import { type Collection, hasRules, isPrivate, requiresFactor } from '../../collections/collection.ts';
import { typeAt } from '../../collections/schema/field-path.ts';
import { isActive, isTrashed } from '../../collections/trash-conditions.ts';
import { AppError } from '../../core/errors.ts';
import { idOf } from '../../core/values.ts';
import type { Caller, Project } from '../../projects/project.ts';
import type { Document } from '../document.ts';

/** A caller and a collection, from which the caller's rights follow. */
export interface CollectionAccess {
  readonly collection: Collection;
  readonly caller: Caller;
}

/** Hears of each effect of a write, by its path: whether its condition holds, and then what it sets. */
export type EffectListener = (
  at: string,
  step: { readonly applies: boolean } | { readonly set: readonly (readonly [field: string, value: unknown])[] },
) => void;

/** The same, with the project. */
export interface AccessContext extends CollectionAccess {
  readonly project: Project;
  /** Set for imports and for writes made by an effect: of the collection's effects, only `set` runs. */
  readonly runsOnlySets?: true;
  /** Of a dry run. */
  readonly onEffect?: EffectListener;
  /** The time of a dry run, in ms, if it is not now. */
  readonly time?: number;
}

/** The error of a request that needs a user (401). */
export const tokenMissing = (): AppError =>
  new AppError(
    'TOKEN_MISSING',
    'This needs a signed-in user. Send the user\'s access token as "Authorization: Bearer <token>".',
  );

/** The error of a token that is invalid, expired or revoked (401). */
export const tokenInvalid = (): AppError =>
  new AppError('TOKEN_INVALID', 'The access token is not valid. Sign in again, or renew it with the refresh token.');

/** The error of a write to another user's document (403). */
export const notOwner = (): AppError =>
  new AppError('NOT_OWNER', 'This document belongs to another user. Only its owner can change it.');

/** The error of a write with a publishable key to a collection without row security (403). */
export const securityRequired = (collection: string): AppError =>
  new AppError(
    'RLS_REQUIRED',
    `A publishable key writes only with row-level security, which is off in "${collection}". From a server, send the secret key instead. From an app, turn it on (rls.enabled of the collection), sign a user in, and send their access token as "Authorization: Bearer <token>".`,
  );

/**
 * If the collection requires a second factor: throws 401 `TOKEN_MISSING` for a publishable key without a user, and
 * 403 `MFA_REQUIRED` for a user who signed in without one.
 */
export const requireFactor = ({ collection: { name, rls }, caller: { kind, userId, mfa } }: CollectionAccess): void => {
  if (!requiresFactor(rls) || mfa || kind === 'secret') return;
  if (userId === undefined) throw tokenMissing();
  throw new AppError(
    'MFA_REQUIRED',
    `The collection "${name}" needs a second factor. Sign in again with an authenticator app (set it up with POST /api/userAuth/second-factor/totp) or a passkey.`,
  );
};

/**
 * Throws if the key alone forbids a write: a publishable key without row security (403 `RLS_REQUIRED`), without a
 * user (401 `TOKEN_MISSING`) or without the required second factor. Contract 2, "Row security".
 */
export const requireWriteAccess = (context: CollectionAccess): void => {
  const { collection, caller } = context;
  if (caller.kind === 'secret') return;
  if (!collection.rls.enabled) throw securityRequired(collection.name);
  if (caller.userId === undefined) throw tokenMissing();
  requireFactor(context);
};

/**
 * The documents that a user owns. An array that contains the id is no owner, and `null` matches a missing owner too.
 */
export const ownedBy = (ownerField: string, userId: unknown): Filter<MongoDocument> => ({
  [ownerField]: { $eq: userId, $not: { $type: 'array' } },
});

/** A user's id as the owner field stores it: an ObjectId if the field is a Ref to users. */
export const ownerValue = (collection: Collection, userId: string): unknown =>
  typeAt(collection, collection.rls.ownerField)?.type === 'Ref' ? (idOf(userId) ?? userId) : userId;

const ownedByUser = (collection: Collection, userId: string): Filter<MongoDocument> =>
  ownedBy(collection.rls.ownerField, ownerValue(collection, userId));

/** Compares two owners as documents store them. */
export const isSameOwner = (one: unknown, other: unknown): boolean =>
  one === other || (one instanceof ObjectId && other instanceof ObjectId && one.equals(other));

export const owns = ({ collection, caller: { userId } }: CollectionAccess, document: Document): boolean =>
  userId !== undefined && isSameOwner(document[collection.rls.ownerField], ownerValue(collection, userId));

/** Whether no active document of the collection is hidden from the caller. Under rules some may be. */
export const mayReadAll = ({ collection: { rls }, caller }: CollectionAccess): boolean =>
  caller.kind === 'secret' || !(isPrivate(rls) || hasRules(rls));

/** Whether an invalid token is rejected even if no user is needed: a list would lack the user's own documents. */
export const refusesInvalidTokens = ({ enabled, mode }: Pick<Collection['rls'], 'enabled' | 'mode'>): boolean =>
  enabled && (mode === 'rules' || mode === 'signed-in');

const isSignedInOnly = ({ enabled, mode }: Collection['rls']): boolean => enabled && mode === 'signed-in';

/** Whether the caller can access nothing of the collection: a user or a second factor is required and missing. */
export const isClosed = ({ collection: { rls }, caller: { kind, userId, mfa } }: CollectionAccess): boolean => {
  if (kind === 'secret') return false;
  return requiresFactor(rls) ? !mfa : (isPrivate(rls) || isSignedInOnly(rls)) && userId === undefined;
};

const hidesTrash = ({ collection: { rls }, caller }: CollectionAccess): boolean =>
  caller.kind === 'publishable' && rls.enabled && rls.trash === 'owner';

/**
 * The filter for the documents that the caller may read, with `includeDeleted` trashed ones too; `undefined` if that
 * is all. Throws 401 `TOKEN_MISSING` for a private collection without a user, 403 without the required second
 * factor.
 */
export const visibilityFilter = (
  context: CollectionAccess,
  includeDeleted: boolean,
): Filter<MongoDocument> | undefined => {
  requireFactor(context);
  const { collection, caller } = context;
  const own = caller.userId === undefined ? undefined : ownedByUser(collection, caller.userId);
  if (caller.kind !== 'secret' && isSignedInOnly(collection.rls) && !own) throw tokenMissing();
  if (caller.kind !== 'secret' && isPrivate(collection.rls)) {
    if (!own) throw tokenMissing();
    return own;
  }
  if (!includeDeleted || !hidesTrash(context)) return undefined;
  return own ? { $or: [isActive, own] } : isActive;
};

/** Decides `visibilityFilter` in code, for a fetched document. */
export const mayRead = (context: CollectionAccess, document: Document): boolean => {
  const isHidden =
    (context.caller.kind !== 'secret' && isPrivate(context.collection.rls)) ||
    (hidesTrash(context) && isTrashed(document));
  return !isHidden || owns(context, document);
};

/** The filter for the documents that the caller may write: their own for publishable keys, all for secret ones. */
export const writeFilter = (context: CollectionAccess): Filter<MongoDocument> => {
  requireWriteAccess(context);
  const { collection, caller } = context;
  return caller.kind === 'secret' ? {} : ownedByUser(collection, caller.userId ?? '');
};

/** Decides `writeFilter` in code, for a fetched document. */
export const mayWrite = (context: CollectionAccess, document: Document): boolean =>
  context.caller.kind === 'secret' || owns(context, document);

/** Whether rules apply to this caller: only to publishable keys. */
export const obeysRules = ({
  collection: { rls },
  caller: { kind },
}: Pick<AccessContext, 'collection' | 'caller'>): boolean => kind === 'publishable' && hasRules(rls);
