import { ObjectId } from 'mongodb';
import { AppError } from '../../core/errors.ts';
import { onDuplicateKey, retryOnConflict } from '../../core/retry.ts';
import { nameOfProvider } from '../../projects/social/providers.ts';
import { accountChanges, notifyOfChange } from '../account-mail.ts';
import {
  type AccountRecord,
  type AccountStore,
  enabled,
  findByEmail,
  type Identity,
  requireAccount,
} from '../account-store.ts';
import { replaceCredentials, takeOver, unchangedSince } from '../credentials.ts';
import { requireSession } from '../sessions.ts';
import { hasRemainingMethod, lastSignInMethod, type OpenMethods, requireRecentAccount } from '../step-up.ts';
import type { Bearer } from '../tokens.ts';
import { signInFailed } from './ask-provider.ts';
import type { IdentityProvider, ProviderLoad, SocialProfile } from './providers.ts';
import { beginSignIn, type SocialSite } from './start-sign-in.ts';

export interface LinkedAccount<R extends AccountRecord> {
  readonly account: R;
  /** Key of the identity. */
  readonly key: string;
  readonly isNew: boolean;
  readonly linkedByEmail: boolean;
}

export interface NewIdentity {
  /** `undefined` if the provider does not verify addresses. */
  readonly email: string | undefined;
  readonly identity: Identity;
  readonly provider: IdentityProvider;
  readonly profile: SocialProfile;
  /** From 0; later attempts must vary values that may be taken. */
  readonly attempt: number;
}

/** Creates an account for a new identity; `undefined` if one was just created. */
export type OpenAccount<R extends AccountRecord> = (newcomer: NewIdentity) => Promise<R | undefined>;

/** An attempt fails only if another caller has just changed the account. */
const attempts = 5;

type Found<R extends AccountRecord> = Omit<LinkedAccount<R>, 'key'>;

const requireEnabled = <R extends AccountRecord>(account: R): R => {
  if (account.isDisabled) throw signInFailed('This account is disabled.');
  return account;
};

const findByAddresses = async <R extends AccountRecord>(
  store: AccountStore<R>,
  addresses: readonly string[],
): Promise<R | undefined> => {
  for (const address of addresses) {
    const account = await findByEmail(store, address);
    if (account) return requireEnabled(account);
  }
  return undefined;
};

/** Returns `null` if the account has changed since it was read. */
const link = async <R extends AccountRecord>(
  store: AccountStore<R>,
  match: R,
  identity: Identity,
): Promise<Found<R> | null> => {
  const { _id, email, emailVerified } = match;
  const asRead = { _id, ...enabled, email: { $eq: email }, emailVerified: true };
  const account = emailVerified
    ? await store.change({ ...asRead, 'identities.key': { $ne: identity.key } }, { $push: { identities: identity } })
    : await takeOver(store, match, { identities: [identity] });
  return account ? { account, isNew: false, linkedByEmail: true } : null;
};

const stillAnonymous = { '_signIn.anonymous': { $exists: true }, ...enabled };

const findAnonymous = async <R extends AccountRecord>(store: AccountStore<R>, id: string): Promise<R | undefined> =>
  store.find({ _id: ObjectId.createFromHexString(id), ...stillAnonymous });

/** Turns an anonymous account into one with the identity; `null` if it is no longer anonymous. */
const upgrade = async <R extends AccountRecord>(
  store: AccountStore<R>,
  { _id }: R,
  identity: Identity,
  email: string | undefined,
): Promise<Found<R> | null> => {
  const account = await store.change(
    { _id, ...stillAnonymous },
    {
      $push: { identities: identity },
      ...(email !== undefined && { $set: { email, emailVerified: true } }),
      $unset: { '_signIn.anonymous': '' },
    },
  );
  return account ? { account, isNew: false, linkedByEmail: false } : null;
};

/** The identity and its verified addresses. Throws if a provider that verifies addresses has verified none. */
const verifiedIdentity = ({ name, title, identities, verifiesAddresses }: IdentityProvider, profile: SocialProfile) => {
  const vouched = profile.addresses.filter(({ verified }) => verified && verifiesAddresses);
  if (verifiesAddresses && vouched.length === 0) {
    throw signInFailed(`${title} has not verified your email address. Verify it there, then sign in again.`);
  }
  const identity: Identity = { provider: name, id: profile.id, key: identities + profile.id };
  return { identity, addresses: vouched.map(({ email }) => email) };
};

/**
 * Finds or creates the account: the one with the identity, the one with a verified address of the provider, the
 * anonymous one of `begunBy`, or a new one. An account that never verified its address loses password and sessions
 * first, because an attacker may have created it. Exact under concurrency.
 */
export const linkAccount = async <R extends AccountRecord>(
  store: AccountStore<R>,
  open: OpenAccount<R>,
  provider: IdentityProvider,
  profile: SocialProfile,
  begunBy?: string,
): Promise<LinkedAccount<R>> => {
  const { identity, addresses } = verifiedIdentity(provider, profile);
  const tryOnce = async (attempt: number): Promise<Found<R> | null> => {
    const holder = await store.find({ 'identities.key': { $eq: identity.key } });
    if (holder) return { account: requireEnabled(holder), isNew: false, linkedByEmail: false };
    const match = await findByAddresses(store, addresses);
    if (match) return link(store, match, identity);
    const anonymous = begunBy === undefined ? undefined : await findAnonymous(store, begunBy);
    if (anonymous) return upgrade(store, anonymous, identity, addresses[0]);
    const account = await open({ email: addresses[0], identity, provider, profile, attempt });
    return account ? { account, isNew: true, linkedByEmail: false } : null;
  };
  const busy = 'Other requests are changing the account. Retry.';
  const found = await retryOnConflict(busy, (attempt) => onDuplicateKey(tryOnce(attempt), () => null), attempts);
  return { ...found, key: identity.key };
};

/** Starts linking a provider. Throws 403 `REAUTHENTICATION_REQUIRED`. */
export const linkProvider = async (store: AccountStore, site: SocialSite, load: ProviderLoad, bearer: Bearer) => {
  await requireRecentAccount(store, bearer);
  return beginSignIn(site, load, bearer.userId, bearer.sessionId);
};

/** Requires the session and credentials that began. Throws if another account has the identity. */
export const linkToCurrentUser = async (
  store: AccountStore,
  provider: IdentityProvider,
  profile: SocialProfile,
  { userId, sessionId }: Bearer,
): Promise<void> => {
  const { identity } = verifiedIdentity(provider, profile);
  const account = await requireAccount(store, userId);
  await requireSession(store.scope, userId, sessionId);
  const filter = { ...unchangedSince(account), ...enabled, 'identities.key': { $ne: identity.key } };
  const change = { $push: { identities: identity }, $unset: { '_signIn.anonymous': '' } };
  const linked = await onDuplicateKey(store.change(filter, change), (cause) => {
    throw signInFailed(`This account at ${provider.title} already signs in to another account here.`, cause);
  });
  if (linked) return notifyOfChange(store, linked, accountChanges.providerLinked(provider.title));
  const isOwn = await store.find({ _id: new ObjectId(userId), ...enabled, 'identities.key': { $eq: identity.key } });
  if (!isOwn) throw signInFailed('Your account was changed at the same time. Retry.');
};

const notLinked = (): AppError => new AppError('PROVIDER_NOT_LINKED', 'This provider is not linked to your account.');

/** All other sessions end. Errors: 404 `PROVIDER_NOT_LINKED`, 409 `LAST_WAY_TO_SIGN_IN`. */
export const unlinkProvider = async (
  store: AccountStore,
  bearer: Bearer,
  provider: string,
  ways: OpenMethods,
): Promise<void> => {
  const { _id, identities = [] } = await requireRecentAccount(store, bearer);
  if (!identities.some((identity) => identity.provider === provider)) throw notLinked();
  const linked = { _id, ...enabled, 'identities.provider': { $eq: provider } };
  const filter = { ...linked, ...hasRemainingMethod(store, ways, { provider }) };
  const ending = { except: bearer.sessionId, tokens: false, pull: { identities: { provider } } };
  const changed = await replaceCredentials(store, filter, {}, ending);
  if (!changed) throw (await store.find(linked)) ? lastSignInMethod() : notLinked();
  await notifyOfChange(store, changed, accountChanges.providerUnlinked(nameOfProvider(provider)));
};
