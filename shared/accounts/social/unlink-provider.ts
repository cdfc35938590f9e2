import { AppError } from '../../core/errors.ts';
import { nameOfProvider } from '../../projects/social-providers.ts';
import { type AccountStore, enabled } from '../account-store.ts';
import { hasAnotherWay, lastWayToSignIn, type OpenWays } from '../another-way.ts';
import { replaceCredentials } from '../credentials.ts';
import type { Bearer } from '../session-jwt.ts';
import { requireRecentAccount } from '../step-up.ts';
import { accountChanges, tellOfChange } from '../tell-of-change.ts';

const notLinked = (): AppError => new AppError('PROVIDER_NOT_LINKED', 'This provider is not linked to your account.');

/**
 * Takes a provider from the account of who has just signed in, in one conditional write; all other sessions end, as
 * some may have begun with it. Not linked → 404 `PROVIDER_NOT_LINKED`, nothing else left → 409 `LAST_WAY_TO_SIGN_IN`.
 */
export const unlinkProvider = async (
  store: AccountStore,
  bearer: Bearer,
  provider: string,
  ways: OpenWays,
): Promise<void> => {
  const { _id, identities = [] } = await requireRecentAccount(store, bearer);
  if (!identities.some((identity) => identity.provider === provider)) throw notLinked();
  const linked = { _id, ...enabled, 'identities.provider': { $eq: provider } };
  const filter = { ...linked, ...hasAnotherWay(store, ways, { provider }) };
  const ending = { except: bearer.sessionId, tokens: false, pull: { identities: { provider } } };
  const changed = await replaceCredentials(store, filter, {}, ending);
  if (!changed) throw (await store.find(linked)) ? lastWayToSignIn() : notLinked();
  await tellOfChange(store, changed, accountChanges.providerUnlinked(nameOfProvider(provider)));
};
