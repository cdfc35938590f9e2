import type { SessionScope } from '../session-keys.ts';
import { orErrorLanding } from './landing.ts';
import { authorizationUrl, newVerifier, type OAuthApp } from './oauth-client.ts';
import type { IdentityProvider } from './providers.ts';
import { startState } from './state.ts';

/** Where somebody begins a social sign-in. */
export interface SocialSite {
  readonly scope: SessionScope;
  /** The site to whose landing page the sign-in comes back. */
  readonly siteUrl: string | null;
  /** The app that is registered with a provider; what stands against signing in there is thrown. */
  readonly app: (provider: IdentityProvider) => Promise<OAuthApp>;
}

/** Where to send the browser; with `begun`, what it has to remember for the callback. */
export interface StartedSignIn {
  readonly location: string;
  readonly begun?: { readonly state: string; readonly verifier: string };
}

/**
 * Begins a social sign-in: the browser goes on to the provider. What stands against it sends it to the landing page
 * with `error` instead; no site URL → 400 `SITE_URL_REQUIRED`.
 */
export const startSignIn = (site: SocialSite, provider: IdentityProvider): Promise<StartedSignIn> =>
  orErrorLanding(site, async () => {
    const app = await site.app(provider);
    const verifier = newVerifier();
    const state = await startState(site.scope, provider.name, verifier);
    return { location: authorizationUrl(provider, app, state, verifier), begun: { state, verifier } };
  });
