import { hkdfSync } from 'node:crypto';
import { generateCodeVerifier } from 'arctic';
import { AppError } from '../../core/errors.ts';
import { itemKey } from '../../persistence/item-keys.ts';
import * as kinds from '../../persistence/table-keys.ts';
import { openBy, sealBy } from '../../projects/sealed.ts';
import type { SessionScope } from '../sessions.ts';
import type { OpenedSession } from '../sign-in.ts';
import { consumeSecret, isSecret, issueSecret, randomSecret, type SecretKind, sha256 } from '../single-use-secrets.ts';
import { orErrorRedirect, requireSiteUrl } from './ask-provider.ts';
import { authorizationUrl, type OAuthApp } from './oauth-client.ts';
import type { IdentityProvider, ProviderLoad } from './providers.ts';

/** Time for the user at the provider, in seconds. */
export const stateSeconds = 600;

const wellFormed = /^([0-9a-f]{24})\.[A-Za-z0-9_-]{43}$/;

const states: SecretKind = {
  keyOf: (scope, hash) => itemKey(kinds.signInState, scope, { hash }),
  seconds: stateSeconds,
};

/** The project that a state claims; only its item proves it. `undefined` if malformed. */
export const projectOfState = (state: string): string | undefined => wellFormed.exec(state)?.[1];

/**
 * Creates a `state`, which begins with the project id. The browser keeps `verifier` in a cookie; only its challenge is
 * stored, so that the state works in that browser only. `begunBy` is the signed-in user, `linking` their session if the
 * identity is to be linked.
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

/** For exactly one concurrent caller, with the same browser, scope and provider. */
export const consumeState = (
  scope: SessionScope,
  state: string,
  provider: IdentityProvider['name'],
  verifier: string,
): Promise<{ readonly begunBy?: string; readonly linking?: string } | undefined> =>
  consumeSecret(states, scope, state, { provider, challenge: sha256(verifier) });

export interface SocialSite {
  readonly scope: SessionScope;
  /** The site that the sign-in returns to. */
  readonly siteUrl: string | null;
  /** The app at a provider. Throws if sign-in with it is not available. */
  readonly app: (provider: IdentityProvider) => Promise<OAuthApp>;
}

/** Redirect; `begun` is kept by the browser for the callback. */
interface StartedSignIn {
  readonly location: string;
  readonly begun?: { readonly state: string; readonly verifier: string };
}

/** Throws if the sign-in is not available. */
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

/** Redirects to the provider, or to the callback page with `error`. Throws 400 `SITE_URL_REQUIRED`. */
export const startSignIn = (site: SocialSite, load: ProviderLoad, begunBy?: string): Promise<StartedSignIn> =>
  orErrorRedirect(site, () => beginSignIn(site, load, begunBy));

const codes: SecretKind = { keyOf: (scope, hash) => itemKey(kinds.exchangeCode, scope, { hash }), seconds: 60 };
const maxTokenLength = 4096;

const keyOf = (code: string): Buffer => Buffer.from(hkdfSync('sha256', code, '', 'basalt exchange code', 32));

const place = 'exchange code';

/** Valid once within 60 s, with the access token. The refresh token is sealed with a key derived from the code. */
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

/** Throws 400 `INVALID_EXCHANGE_CODE`; a wrong access token does not consume the code. */
export const exchangeCode = async (scope: SessionScope, code: string, accessToken: string): Promise<string> => {
  if (!isSecret(code) || accessToken.length > maxTokenLength) throw invalidCode();
  const expected = { accessToken: sha256(accessToken) };
  const used = await consumeSecret<{ readonly refreshToken: string }>(codes, scope, code, expected);
  if (!used) throw invalidCode();
  return openBy(keyOf(code), used.refreshToken, place);
};
