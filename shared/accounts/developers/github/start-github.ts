import { developerScope } from '../../session-keys.ts';
import { orErrorLanding } from '../../social/landing.ts';
import { authorizationUrl, newVerifier } from '../../social/oauth-client.ts';
import { requireProvider } from '../../social/providers.ts';
import type { StartedSignIn } from '../../social/start-sign-in.ts';
import { startState } from '../../social/state.ts';
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
