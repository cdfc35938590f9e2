import { hash, randomBytes } from 'node:crypto';
import { generateCodeVerifier } from 'arctic';
import { nowSeconds } from '../../core/clock.ts';
import { write } from '../../table/item.ts';
import { itemKey } from '../../table/item-key.ts';
import * as kinds from '../../table/keys.ts';
import { consumeItem } from '../../table/single-use.ts';
import type { SessionScope } from '../sessions.ts';
import { orErrorLanding } from './landing.ts';
import { authorizationUrl, type OAuthApp } from './oauth-client.ts';
import type { IdentityProvider, ProviderLoad } from './providers.ts';

/** How long somebody may take at the provider, in seconds. */
export const stateSeconds = 600;

const wellFormed = /^([0-9a-f]{24})\.[A-Za-z0-9_-]{43}$/;

const sha256 = (text: string): string => hash('sha256', text, 'base64url');

const stateKey = (scope: SessionScope, state: string) => itemKey(kinds.signInState, scope, { hash: sha256(state) });

/** The project that a state says it belongs to; `undefined` for what cannot be a state. Only its item proves it. */
export const projectOfState = (state: string): string | undefined => wellFormed.exec(state)?.[1];

/**
 * Begins a sign-in and returns its `state`, which begins with the id of the project. The browser keeps `verifier` in a
 * cookie: the stored item holds only its PKCE challenge, so that the state is of use to that browser alone.
 */
export const startState = async (
  scope: SessionScope,
  provider: IdentityProvider['name'],
  verifier: string,
): Promise<string> => {
  const state = `${scope.slice(2)}.${randomBytes(32).toString('base64url')}`;
  await write({
    put: {
      ...stateKey(scope, state),
      provider,
      challenge: sha256(verifier),
      expiresAt: nowSeconds() + stateSeconds,
    },
  });
  return state;
};

/**
 * Uses up a state: true for one of any number of parallel callers, and only for the browser, scope and provider that it
 * was begun with, within 10 minutes. A caller who is not entitled does not use it up.
 */
export const consumeState = async (
  scope: SessionScope,
  state: string,
  provider: IdentityProvider['name'],
  verifier: string,
): Promise<boolean> => {
  const used = await consumeItem({
    key: stateKey(scope, state),
    condition: 'provider = :provider AND challenge = :challenge AND expiresAt > :now',
    values: { provider, challenge: sha256(verifier), now: nowSeconds() },
  });
  return used !== undefined;
};

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

/** Sends the browser on to the provider, or to the landing page with `error`; no site URL → 400 `SITE_URL_REQUIRED`. */
export const startSignIn = (site: SocialSite, load: ProviderLoad): Promise<StartedSignIn> =>
  orErrorLanding(site, async () => {
    const provider = await load();
    const app = await site.app(provider);
    const verifier = generateCodeVerifier();
    const state = await startState(site.scope, provider.name, verifier);
    return { location: authorizationUrl(provider, app, state, verifier), begun: { state, verifier } };
  });
