import { developerScope } from '../../auth/session-keys.ts';
import { orErrorLanding } from '../../auth/social/landing.ts';
import { authorizationUrl, newVerifier } from '../../auth/social/oauth-client.ts';
import { requireProvider } from '../../auth/social/providers.ts';
import type { StartedSignIn } from '../../auth/social/start-sign-in.ts';
import { startState } from '../../auth/social/state.ts';
import { requireDashboardApp } from './github-app.ts';

/** Begins a developer's sign-in with GitHub: the browser goes on there. Not set up → 404 `UNKNOWN_PROVIDER`. */
export const startGithub = async (): Promise<StartedSignIn> => {
  const app = requireDashboardApp();
  return orErrorLanding({ siteUrl: app.dashboardUrl }, async () => {
    const github = requireProvider('github');
    const verifier = newVerifier();
    const state = await startState(developerScope, github.name, verifier);
    return { location: authorizationUrl(github, app, state, verifier), begun: { state, verifier } };
  });
};
