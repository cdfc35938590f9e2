import type { Filter, UpdateFilter } from 'mongodb';
import { onManaged } from '../../clients/mongo.ts';
import type { Collection } from '../../collections/collection.ts';
import { usersCollection } from '../../collections/schema/collection-name.ts';
import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import type { Project } from '../../projects/project.ts';
import { discardCredentials } from '../users/discard-credentials.ts';
import { findUserByEmail, findUserByIdentity, identityKey } from '../users/find-user.ts';
import type { Identity, UserRecord } from '../users/user-record.ts';
import { createAccount } from './create-account.ts';
import { decideLink } from './link-decision.ts';
import type { SocialProfile } from './profile.ts';
import type { IdentityProvider } from './providers.ts';
import { signInFailed } from './sign-in-failure.ts';

/** Whose session to open, and how the sign-in came to this user. */
export interface LinkedAccount {
  readonly user: UserRecord;
  readonly isNewUser: boolean;
  readonly linkedByEmail: boolean;
}

/** An attempt fails only when another caller has just changed the same account. */
const attempts = 5;

const requireEnabled = (user: UserRecord): UserRecord => {
  if (user.isDisabled) throw signInFailed('This account is disabled.');
  return user;
};

const findByAddresses = async (project: Project, addresses: readonly string[]): Promise<UserRecord | undefined> => {
  for (const address of addresses) {
    const user = await findUserByEmail(project, address);
    if (user) return requireEnabled(user);
  }
  return undefined;
};

/** Adds the identity to the account as it was read; `undefined` where it has changed since. */
const link = async (
  project: Project,
  { _id, email }: UserRecord,
  identity: Identity,
  state: Filter<UserRecord>,
  changes: UpdateFilter<UserRecord>,
): Promise<LinkedAccount | undefined> => {
  const filter = {
    ...state,
    _id,
    email: { $eq: email },
    isDeleted: { $ne: true },
    isDisabled: { $ne: true },
    'identities.key': { $ne: identity.key },
  } as Filter<UserRecord>;
  const user = await onManaged(project, (db) =>
    db.collection<UserRecord>(usersCollection).findOneAndUpdate(filter, changes, { returnDocument: 'after' }),
  );
  return user ? { user, isNewUser: false, linkedByEmail: true } : undefined;
};

const linkVerified = (project: Project, user: UserRecord, identity: Identity) =>
  link(project, user, identity, { emailVerified: true }, {
    $push: { identities: identity },
    $set: { updatedAt: new Date(clock.now()) },
  } as UpdateFilter<UserRecord>);

const discardAndLink = async (project: Project, user: UserRecord, identity: Identity) => {
  if (!(await discardCredentials(project, user._id.toHexString()))) return undefined;
  const unproved = { emailVerified: { $ne: true }, hasPassword: false } as Filter<UserRecord>;
  return link(project, user, identity, unproved, {
    $set: { identities: [identity], emailVerified: true, updatedAt: new Date(clock.now()) },
  } as UpdateFilter<UserRecord>);
};

const stateOf = (user: UserRecord | undefined): 'none' | 'verified' | 'unverified' => {
  if (!user) return 'none';
  return user.emailVerified === true ? 'verified' : 'unverified';
};

/**
 * The account of the project that a provider's account signs in to: the one that holds it, the one with a matching
 * verified address, or a new one, by `decideLink`. Exact under parallel calls; a refusal is an `AppError` whose message
 * is for the person.
 */
export const linkAccount = async (
  project: Project,
  users: Collection,
  provider: IdentityProvider,
  profile: SocialProfile,
): Promise<LinkedAccount> => {
  const addresses = profile.addresses.filter(({ verified }) => verified).map(({ email }) => email);
  const identity = { provider: provider.name, id: profile.id, key: identityKey(provider.name, profile.id) };

  const tryOnce = async (attempt: number): Promise<LinkedAccount | undefined> => {
    const holder = await findUserByIdentity(project, provider.name, profile.id);
    const match = holder ? undefined : await findByAddresses(project, addresses);
    const found = {
      addressVerified: addresses.length > 0,
      identityKnown: holder !== undefined,
      account: stateOf(match),
    };
    const step = decideLink(found);
    if (step === 'sign in' && holder) return { user: requireEnabled(holder), isNewUser: false, linkedByEmail: false };
    if (step === 'link' && match) return linkVerified(project, match, identity);
    if (step === 'discard and link' && match) return discardAndLink(project, match, identity);
    const [email] = addresses;
    if (step === 'create' && email !== undefined) {
      const user = await createAccount(project, users, provider, { email, identity, profile, attempt });
      return user && { user, isNewUser: true, linkedByEmail: false };
    }
    throw signInFailed(`${provider.title} has not verified your e-mail address. Verify it there, then sign in again.`);
  };

  for (let attempt = 0; attempt < attempts; attempt++) {
    try {
      const account = await tryOnce(attempt);
      if (account) return account;
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'DUPLICATE_VALUE')) throw error;
    }
  }
  throw new AppError('TOO_MANY_WRITERS', 'The account is being changed elsewhere. Please try again.', {
    retryAfter: 1,
  });
};
