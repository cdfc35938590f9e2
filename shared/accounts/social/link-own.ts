import { ObjectId } from 'mongodb';
import { unlessTaken } from '../../core/until-written.ts';
import { type AccountStore, enabled, requireAccount } from '../account-store.ts';
import { unchangedSince } from '../credentials.ts';
import type { Bearer } from '../session-jwt.ts';
import { requireSession } from '../sessions.ts';
import { requireRecentAccount } from '../step-up.ts';
import { accountChanges, tellOfChange } from '../tell-of-change.ts';
import { signInFailed } from './landing.ts';
import { vouchedIdentity } from './link-account.ts';
import type { IdentityProvider, ProviderLoad, SocialProfile } from './providers.ts';
import { beginSignIn, type SocialSite } from './state.ts';

/** Begins to link a provider to the account of who has just signed in, else 403 `REAUTHENTICATION_REQUIRED`. */
export const linkProvider = async (store: AccountStore, site: SocialSite, load: ProviderLoad, bearer: Bearer) => {
  await requireRecentAccount(store, bearer);
  return beginSignIn(site, load, bearer.userId, bearer.sessionId);
};

/**
 * Links the provider's account to that of who began, and tells them, while the session that they began with stands and
 * their credentials are what they were; what is theirs already stays. Somebody else's → refused, whose message is for
 * the person. One write and the unique index on identities decide between parallel calls.
 */
export const linkOwn = async (
  store: AccountStore,
  provider: IdentityProvider,
  profile: SocialProfile,
  { userId, sessionId }: Bearer,
): Promise<void> => {
  const { identity } = vouchedIdentity(provider, profile);
  const account = await requireAccount(store, userId);
  await requireSession(store.scope, userId, sessionId);
  const filter = { ...unchangedSince(account), ...enabled, 'identities.key': { $ne: identity.key } };
  const change = { $push: { identities: identity }, $unset: { '_signIn.anonymous': '' } };
  const linked = await unlessTaken(store.change(filter, change), (cause) => {
    throw signInFailed(`This account at ${provider.title} signs in to another account here already.`, cause);
  });
  if (linked) return tellOfChange(store, linked, accountChanges.providerLinked(provider.title));
  const isOwn = await store.find({ _id: new ObjectId(userId), ...enabled, 'identities.key': { $eq: identity.key } });
  if (!isOwn) throw signInFailed('Your account was changed at this very moment. Please try again.');
};
