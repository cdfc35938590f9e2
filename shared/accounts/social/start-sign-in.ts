import type { Project } from '../../projects/project.ts';
import { projectScope } from '../session-keys.ts';
import { requireUsers } from '../users/require-users.ts';
import { requireApp } from './client-credentials.ts';
import { orErrorLanding } from './landing.ts';
import { authorizationUrl, newVerifier } from './oauth-client.ts';
import type { IdentityProvider } from './providers.ts';
import { startState } from './state.ts';

/** Where to send the browser; with `begun`, what it has to remember for the callback. */
export interface StartedSignIn {
  readonly location: string;
  readonly begun?: { readonly state: string; readonly verifier: string };
}

/**
 * Begins a social sign-in: the browser goes on to the provider. What stands against it (auth or the provider not
 * enabled) sends it to the project's landing page with `error` instead; no site URL → 400 `SITE_URL_REQUIRED`.
 */
export const startSignIn = (project: Project, provider: IdentityProvider): Promise<StartedSignIn> =>
  orErrorLanding(project, async () => {
    await requireUsers(project);
    const app = requireApp(project, provider);
    const verifier = newVerifier();
    const state = await startState(projectScope(project.id), provider.name, verifier);
    return { location: authorizationUrl(provider, app, state, verifier), begun: { state, verifier } };
  });
