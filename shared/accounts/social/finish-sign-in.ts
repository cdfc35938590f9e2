import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../../core/errors.ts';
import { retryOnConflict } from '../../core/retry.ts';
import { accountChanges, notifyOfChange } from '../account-mail.ts';
import { type AccountRecord, enabled } from '../account-store.ts';
import type { Client } from '../sessions.ts';
import { type OpenedSession, openExistingSession, type SigningStore } from '../sign-in.ts';
import { callbackRedirectUrl, orErrorRedirect, signInFailed } from './ask-provider.ts';
import { type LinkedAccount, linkAccount, linkToCurrentUser, type OpenAccount } from './link.ts';
import { type ClientCredentials, fetchProfile, redeemCode } from './oauth-client.ts';
import type { IdentityProvider, ProviderLoad } from './providers.ts';
import { consumeState, issueExchangeCode } from './start-sign-in.ts';

/** The store and site of a social sign-in. */
export interface SocialReturn<R extends AccountRecord> {
  readonly store: SigningStore<R>;
  readonly siteUrl: string | null;
  readonly credentials: (provider: IdentityProvider) => Promise<ClientCredentials>;
  /** Returns how to create accounts. Throws if accounts are not available. */
  readonly opening: () => Promise<OpenAccount<R>>;
  /** Parameters for the callback page. */
  readonly told: (linked: LinkedAccount<R>) => Readonly<Record<string, string>>;
}

/** Parameters of the callback, and the verifier from the browser's cookie. */
interface ProviderReturn {
  readonly state?: string | undefined;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
  readonly verifier: string | undefined;
  /** `iss`. */
  readonly issuer?: string | undefined;
  /** Apple's `user`. */
  readonly form?: string | undefined;
}

export const stateInvalid = (): AppError =>
  signInFailed('This sign-in has expired, was already used, or began in another browser or at another address. Retry.');

const requireState = async (
  { scope }: SigningStore,
  provider: IdentityProvider,
  { state, verifier }: ProviderReturn,
) => {
  if (state === undefined || verifier === undefined) throw stateInvalid();
  const used = await consumeState(scope, state, provider.name, verifier);
  if (!used) throw stateInvalid();
  return { verifier, ...used };
};

/** Returns the code. The provider's error text is not repeated, because anyone can write such a URL. */
const requireCode = ({ title, urls, sendsIssuer }: IdentityProvider, sent: ProviderReturn): string => {
  const { code, error, issuer } = sent;
  // The code of another issuer, perhaps an attacker's, must not be sent to this one (RFC 9207).
  const isOwn = issuer === undefined ? !sendsIssuer : issuer === urls.issuer;
  if (!isOwn && urls.issuer !== undefined) throw signInFailed(`${title} did not send this response. Retry.`);
  if (error === 'access_denied') throw signInFailed(`Signing in with ${title} was cancelled.`);
  if (error !== undefined || !code) throw signInFailed(`${title} did not confirm the sign-in. Retry.`);
  return code;
};

/** A concurrent takeover of the account ends sessions; wait for it between attempts. */
const changeMs = 100;
const attempts = 5;

/** Opens a session of the account while it has the identity. */
const openLinkedSession = <R extends AccountRecord>(
  store: SigningStore<R>,
  { account, key }: LinkedAccount<R>,
  client: Client,
  provider: IdentityProvider,
): Promise<OpenedSession | { readonly ticket: string }> => {
  const changed = 'Your account was changed at the same time. Sign in again.';
  const linked = { _id: account._id, ...enabled, 'identities.key': { $eq: key } };
  return retryOnConflict(
    changed,
    async (attempt) => {
      if (attempt > 0) await pause(changeMs);
      const current = attempt === 0 ? account : await store.find(linked);
      if (!current) throw signInFailed(changed);
      try {
        return await openExistingSession(store, current, client, [provider.name]);
      } catch (error) {
        if (error instanceof AppError && error.ticket !== undefined) return { ticket: error.ticket };
        if (!(error instanceof AppError && error.code === 'INVALID_CREDENTIALS')) throw error;
        return null;
      }
    },
    attempts,
  );
};

/** Redirects to the callback page with an access token and `rtCode`, a `ticket`, `linked`, or `error`. */
export const finishSignIn = <R extends AccountRecord>(
  { store, siteUrl, credentials, opening, told }: SocialReturn<R>,
  load: ProviderLoad,
  sent: ProviderReturn,
  client: Client,
): Promise<{ readonly location: string }> =>
  orErrorRedirect({ siteUrl }, async (site) => {
    const provider = await load();
    const { verifier, begunBy, linking } = await requireState(store, provider, sent);
    const code = requireCode(provider, sent);
    const open = await opening();
    const app = await credentials(provider);
    const tokens = await redeemCode(provider, app, code, verifier);
    const profile = await fetchProfile(provider, tokens, { clientId: app.clientId, verifier, form: sent.form });
    if (begunBy !== undefined && linking !== undefined) {
      await linkToCurrentUser(store, provider, profile, { userId: begunBy, sessionId: linking });
      return { location: callbackRedirectUrl(site, { provider: provider.name, linked: 'true' }) };
    }
    const linked = await linkAccount(store, open, provider, profile, begunBy);
    if (linked.linkedByEmail)
      await notifyOfChange(store, linked.account, accountChanges.providerLinked(provider.title));
    const session = await openLinkedSession(store, linked, client, provider);
    const { name } = provider;
    if ('ticket' in session)
      return { location: callbackRedirectUrl(site, { provider: name }, { ticket: session.ticket }) };
    const rtCode = await issueExchangeCode(store.scope, session);
    const query = { rtCode, provider: name, ...told(linked), linkedByEmail: String(linked.linkedByEmail) };
    return { location: callbackRedirectUrl(site, query, { token: session.accessToken }) };
  });
