import type { Document } from 'mongodb';
import { AppError } from '../../core/errors.ts';
import type { SignInWays } from '../../projects/sign-in-ways.ts';
import { type AccountStore, enabled } from '../account-store.ts';
import { replaceCredentials } from '../credentials.ts';
import { requireRecentAccount } from '../recent-account.ts';
import type { Bearer } from '../session-jwt.ts';

/** Holds for accounts that can still be signed in to without the provider; a verified address is sent a code or a reset. */
const hasAnotherWay = (
  { hashField }: AccountStore,
  provider: string,
  { password, emailCode, passkey }: SignInWays,
): Document => ({
  $or: [
    { identities: { $elemMatch: { provider: { $ne: provider } } } },
    ...(password ? [{ hasPassword: { $ne: false }, [hashField]: { $exists: true } }] : []),
    ...(password || emailCode ? [{ emailVerified: true, email: { $type: 'string' } }] : []),
    ...(passkey ? [{ '_signIn.passkeys': { $elemMatch: { locked: { $ne: true } } } }] : []),
  ],
});

/**
 * Takes a provider from the account of who has just signed in, in one conditional write; all other sessions end, as some
 * may have begun with it. Not linked → 404 `PROVIDER_NOT_LINKED`, nothing else left → 409 `LAST_WAY_TO_SIGN_IN`.
 */
export const unlinkProvider = async (
  store: AccountStore,
  bearer: Bearer,
  provider: string,
  ways: SignInWays,
): Promise<void> => {
  const { _id, identities = [] } = await requireRecentAccount(store, bearer);
  if (!identities.some((identity) => identity.provider === provider)) {
    throw new AppError('PROVIDER_NOT_LINKED', 'This provider is not linked to your account.');
  }
  const filter = { _id, ...enabled, 'identities.provider': { $eq: provider }, ...hasAnotherWay(store, provider, ways) };
  const ending = { except: bearer.sessionId, tokens: false, pull: { identities: { provider } } };
  if (await replaceCredentials(store, filter, {}, ending)) return;
  throw new AppError(
    'LAST_WAY_TO_SIGN_IN',
    'Nothing else signs you in. Set a password, verify your address or link another provider first.',
  );
};
