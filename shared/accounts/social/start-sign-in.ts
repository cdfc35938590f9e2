import { hkdfSync } from 'node:crypto';
import { generateCodeVerifier } from 'arctic';
import { AppError } from '../../core/errors.ts';
import { itemKey } from '../../persistence/item-keys.ts';
import * as kinds from '../../persistence/table-keys.ts';
import { openBy, sealBy } from '../../projects/sealed.ts';
import type { SessionScope } from '../sessions.ts';
import type { OpenedSession } from '../sign-in.ts';
import { consumeSecret, isSecret, issueSecret, type OneTime, randomSecret, sha256 } from '../single-use-secrets.ts';
import { orErrorRedirect, requireSiteUrl } from './ask-provider.ts';
import { authorizationUrl, type OAuthApp } from './oauth-client.ts';
import type { IdentityProvider, ProviderLoad } from './providers.ts';

/** How long somebody may take at the provider, in seconds. */
export const stateSeconds = 600;

const wellFormed = /^([0-9a-f]{24})\.[A-Za-z0-9_-]{43}$/;

const states: OneTime = {
  keyOf: (scope, hash) => itemKey(kinds.signInState, scope, { hash }),
  seconds: stateSeconds,
};

/** The project that a state says it belongs to; `undefined` for what cannot be a state. Only its item proves it. */
export const projectOfState = (state: string): string | undefined => wellFormed.exec(state)?.[1];

/**
 * Begins a sign-in and returns its `state`, which begins with the id of the project. The browser keeps `verifier` in a
 * cookie: the stored item holds only its PKCE challenge, so that the state is of use to that browser alone. `begunBy`
 * is the id of who was signed in, `linking` their session where it is to be linked to their account.
 */
export const startState = (
  scope: SessionScope,
  provider: IdentityProvider['name'],
  verifier: string,
  begunBy?: string,
  linking?: string,
): Promise<string> => {
  const values = { provider, challenge: sha256(verifier), begunBy, linking };
  return issueSecret(states, scope, values, `${scope.slice(2)}.${randomSecret()}`);
};

/**
 * Uses up a state and returns who began it: for one of any number of parallel callers, and only for the browser, scope
 * and provider that it was begun with, within 10 minutes. A caller who is not entitled does not use it up.
 */
export const consumeState = (
  scope: SessionScope,
  state: string,
  provider: IdentityProvider['name'],
  verifier: string,
): Promise<{ readonly begunBy?: string; readonly linking?: string } | undefined> =>
  consumeSecret(states, scope, state, { provider, challenge: sha256(verifier) });

export interface SocialSite {
  readonly scope: SessionScope;
  /** The site to whose landing page the sign-in comes back. */
  readonly siteUrl: string | null;
  /** The app that is registered with a provider; what stands against signing in there is thrown. */
  readonly app: (provider: IdentityProvider) => Promise<OAuthApp>;
}

/** Where to send the browser; with `begun`, what it has to remember for the callback. */
interface StartedSignIn {
  readonly location: string;
  readonly begun?: { readonly state: string; readonly verifier: string };
}

/**
 * Begins a sign-in at a provider; `begunBy` whoever is signed in meanwhile, `linking` by that session. What stands
 * against it is thrown.
 */
export const beginSignIn = async (
  site: SocialSite,
  load: ProviderLoad,
  begunBy?: string,
  linking?: string,
): Promise<Required<StartedSignIn>> => {
  requireSiteUrl(site);
  const provider = await load();
  const app = await site.app(provider);
  const verifier = generateCodeVerifier();
  const state = await startState(site.scope, provider.name, verifier, begunBy, linking);
  return { location: authorizationUrl(provider, app, state, verifier), begun: { state, verifier } };
};

/** Sends the browser on to the provider, or to the landing page with `error`; no site URL → 400 `SITE_URL_REQUIRED`. */
export const startSignIn = (site: SocialSite, load: ProviderLoad, begunBy?: string): Promise<StartedSignIn> =>
  orErrorRedirect(site, () => beginSignIn(site, load, begunBy));

const codes: OneTime = { keyOf: (scope, hash) => itemKey(kinds.exchangeCode, scope, { hash }), seconds: 60 };
const maxTokenLength = 4096;

/** Each code gives a key of its own. */
const keyOf = (code: string): Buffer => Buffer.from(hkdfSync('sha256', code, '', 'basalt exchange code', 32));

const place = 'exchange code';

/**
 * A code that exchanges for the refresh token once, within 60 s, together with the access token (contract 3, "Social").
 * Stored are hashes of both, and the refresh token sealed with a key that only the code itself gives.
 */
export const issueExchangeCode = async (
  scope: SessionScope,
  { accessToken, refreshToken }: Pick<OpenedSession, 'accessToken' | 'refreshToken'>,
): Promise<string> => {
  const code = randomSecret();
  const values = { accessToken: sha256(accessToken), refreshToken: sealBy(keyOf(code), refreshToken, place) };
  return issueSecret(codes, scope, values, code);
};

const invalidCode = (): AppError =>
  new AppError('INVALID_EXCHANGE_CODE', 'Invalid or expired refresh token exchange code');

/**
 * The refresh token behind a code: for one of any number of parallel callers, who shows the access token that the code
 * was issued with. Everything else is 400 `INVALID_EXCHANGE_CODE`, and does not use the code up.
 */
export const exchangeCode = async (scope: SessionScope, code: string, accessToken: string): Promise<string> => {
  if (!isSecret(code) || accessToken.length > maxTokenLength) throw invalidCode();
  const expected = { accessToken: sha256(accessToken) };
  const used = await consumeSecret<{ readonly refreshToken: string }>(codes, scope, code, expected);
  if (!used) throw invalidCode();
  return openBy(keyOf(code), used.refreshToken, place);
};
