import { ObjectId } from 'mongodb';
import { unlessTaken, untilWritten } from '../../core/until-written.ts';
import { type AccountRecord, type AccountStore, enabled, findByEmail, type Identity } from '../account-store.ts';
import { discardCredentials } from '../credentials.ts';
import { signInFailed } from './landing.ts';
import type { IdentityProvider, SocialProfile } from './providers.ts';

export interface LinkQuestion {
  /** Whether the provider has verified one of their addresses; `never` of one that verifies none of anybody. */
  readonly addressVerified: boolean | 'never';
  /** The very account at the provider has signed in before. */
  readonly identityKnown: boolean;
  /** The user who has one of the vouched-for addresses, and whether they have proved that it is theirs. */
  readonly account: 'none' | 'verified' | 'unverified';
  /** An anonymous user began it, who is one still. */
  readonly anonymous: boolean;
}

/** What a social sign-in does with the account; `discard and link` removes its credentials first, `upgrade` links the anonymous one. */
export type LinkStep = 'refuse' | 'sign in' | 'link' | 'discard and link' | 'upgrade' | 'create';

/**
 * What a social sign-in comes to (contract 3, "Social"). Somebody else may have opened an account with the address and
 * wait for its owner, so one that never proved its address loses password and sessions first. What a provider says of
 * addresses that it never verifies decides nothing.
 */
export const decideLink = ({ addressVerified, identityKnown, account, anonymous }: LinkQuestion): LinkStep => {
  if (addressVerified === false) return 'refuse';
  if (identityKnown) return 'sign in';
  if (account === 'none' || addressVerified === 'never') return anonymous ? 'upgrade' : 'create';
  return account === 'verified' ? 'link' : 'discard and link';
};

/** Whose session to open, and how the sign-in came to this account. */
export interface LinkedAccount<R extends AccountRecord> {
  readonly account: R;
  readonly isNew: boolean;
  readonly linkedByEmail: boolean;
}

export interface Newcomer {
  /** `undefined` of somebody whose provider verifies none. */
  readonly email: string | undefined;
  readonly identity: Identity;
  readonly provider: IdentityProvider;
  readonly profile: SocialProfile;
  /** 0 for the first try; a later one has to vary what may have been taken. */
  readonly attempt: number;
}

/** Opens an account for somebody whom the provider vouches for; `undefined` if they have just got one. */
export type OpenAccount<R extends AccountRecord> = (newcomer: Newcomer) => Promise<R | undefined>;

/** An attempt fails only when another caller has just changed the same account. */
const attempts = 5;

const requireEnabled = <R extends AccountRecord>(account: R): R => {
  if (account.isDisabled) throw signInFailed('This account is disabled.');
  return account;
};

const stateOf = (account: AccountRecord | undefined): 'none' | 'verified' | 'unverified' => {
  if (!account) return 'none';
  return account.emailVerified === true ? 'verified' : 'unverified';
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

/**
 * Adds the identity to the account as it was read; `null` if it has changed since. Credentials of an address that
 * nobody verified end first: only when no session of them is left does the address count as verified.
 */
const link = async <R extends AccountRecord>(
  store: AccountStore<R>,
  { _id, email }: R,
  identity: Identity,
  step: 'link' | 'discard and link',
): Promise<LinkedAccount<R> | null> => {
  if (step === 'discard and link' && !(await discardCredentials(store, _id))) return null;
  const [state, change] =
    step === 'link'
      ? [{ emailVerified: true }, { $push: { identities: identity } }]
      : [
          { emailVerified: { $ne: true }, hasPassword: false },
          { $set: { identities: [identity], emailVerified: true } },
        ];
  const expected = { ...state, ...enabled, email: { $eq: email }, 'identities.key': { $ne: identity.key } };
  const account = await store.change({ ...expected, _id }, change);
  return account ? { account, isNew: false, linkedByEmail: true } : null;
};

const stillAnonymous = { '_signIn.anonymous': { $exists: true }, ...enabled };

const findAnonymous = async <R extends AccountRecord>(store: AccountStore<R>, id: string): Promise<R | undefined> =>
  store.find({ _id: ObjectId.createFromHexString(id), ...stillAnonymous });

/** Makes an anonymous account that of the identity; `null` if it is none any more. */
const upgrade = async <R extends AccountRecord>(
  store: AccountStore<R>,
  { _id }: R,
  identity: Identity,
  email: string | undefined,
): Promise<LinkedAccount<R> | null> => {
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

/**
 * The account that holds the provider's, the one with a matching verified address, or a new one, by `decideLink`; `begunBy`
 * is the id of an anonymous user who is signed in meanwhile. Exact
 * under parallel calls; the message of a refusal is for the person.
 */
export const linkAccount = async <R extends AccountRecord>(
  store: AccountStore<R>,
  open: OpenAccount<R>,
  provider: IdentityProvider,
  profile: SocialProfile,
  begunBy?: string,
): Promise<LinkedAccount<R>> => {
  const { name, title, identities, verifiesAddresses } = provider;
  const vouched = profile.addresses.filter(({ verified }) => verified && verifiesAddresses);
  const addresses = vouched.map(({ email }) => email);
  const identity = { provider: name, id: profile.id, key: identities + profile.id };

  const tryOnce = async (attempt: number): Promise<LinkedAccount<R> | null> => {
    const holder = await store.find({ 'identities.key': { $eq: identity.key } });
    const match = holder ? undefined : await findByAddresses(store, addresses);
    const isOpen = begunBy !== undefined && !holder && !match;
    const anonymous = isOpen ? await findAnonymous(store, begunBy) : undefined;
    const found = {
      addressVerified: verifiesAddresses ? addresses.length > 0 : ('never' as const),
      identityKnown: holder !== undefined,
      account: stateOf(match),
      anonymous: anonymous !== undefined,
    };
    const step = decideLink(found);
    if (step === 'sign in' && holder) return { account: requireEnabled(holder), isNew: false, linkedByEmail: false };
    if ((step === 'link' || step === 'discard and link') && match) return link(store, match, identity, step);
    if (step === 'upgrade' && anonymous) return upgrade(store, anonymous, identity, addresses[0]);
    if (step === 'create') {
      const account = await open({ email: addresses[0], identity, provider, profile, attempt });
      return account ? { account, isNew: true, linkedByEmail: false } : null;
    }
    throw signInFailed(`${title} has not verified your e-mail address. Verify it there, then sign in again.`);
  };

  const busy = 'The account is being changed elsewhere. Please try again.';
  return untilWritten(busy, (attempt) => unlessTaken(tryOnce(attempt), () => null), attempts);
};
