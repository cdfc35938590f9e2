import { AppError } from '../../core/errors.ts';
import { findProjectById } from '../../projects/find-project-by-id.ts';
import type { Project } from '../../projects/project.ts';
import { type Client, projectScope } from '../session-keys.ts';
import { type OpenedSession, openSession } from '../users/open-session.ts';
import { requireUsers } from '../users/require-users.ts';
import type { UserRecord } from '../users/user-record.ts';
import { clientCredentials } from './client-credentials.ts';
import { issueExchangeCode } from './exchange-code.ts';
import { fetchProfile } from './fetch-profile.ts';
import { landingUrl, orErrorLanding } from './landing.ts';
import { linkAccount } from './link-account.ts';
import { redeemCode } from './oauth-client.ts';
import type { IdentityProvider } from './providers.ts';
import { signInFailed } from './sign-in-failure.ts';
import { consumeState, projectOfState } from './state.ts';

/** What the provider sends the browser back with, and the verifier that the browser kept for this state. */
export interface ProviderReturn {
  readonly state?: string | undefined;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
  readonly verifier: string | undefined;
}

/** The refusal of a state that is unknown, used, expired or of another browser (400). */
export const outdated = (): AppError =>
  signInFailed(
    'This sign-in has expired, was already used, or began in another browser or at another address. Please try again.',
  );

const requireState = async (project: Project, provider: IdentityProvider, { state, verifier }: ProviderReturn) => {
  const good =
    state !== undefined &&
    verifier !== undefined &&
    (await consumeState(projectScope(project.id), state, provider.name, verifier));
  if (!good) throw outdated();
  return verifier;
};

/** The code, or why there is none; what the provider says about it is not repeated, as anybody can write such a URL. */
export const requireCode = ({ title }: IdentityProvider, { code, error }: ProviderReturn): string => {
  if (error === 'access_denied') throw signInFailed(`Signing in with ${title} was cancelled.`);
  if (error !== undefined || !code) throw signInFailed(`${title} did not confirm the sign-in. Please try again.`);
  return code;
};

const openFor = async (project: Project, user: UserRecord, client: Client): Promise<OpenedSession> => {
  try {
    return await openSession(project, user, client);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'INVALID_CREDENTIALS')) throw error;
    throw signInFailed('Your account was changed at this very moment. Please sign in again.', error);
  }
};

const signIn = async (
  project: Project,
  siteUrl: string,
  provider: IdentityProvider,
  sent: ProviderReturn,
  client: Client,
) => {
  const verifier = await requireState(project, provider, sent);
  const code = requireCode(provider, sent);
  const users = await requireUsers(project);
  const token = await redeemCode(provider, await clientCredentials(project, provider), code, verifier);
  const profile = await fetchProfile(provider, token);
  const { user, isNewUser, linkedByEmail } = await linkAccount(project, users, provider, profile);
  const session = await openFor(project, user, client);
  const url = landingUrl(siteUrl, {
    rtCode: await issueExchangeCode(projectScope(project.id), session),
    provider: provider.name,
    projectId: project.id,
    userId: session.userId,
    isNewUser: String(isNewUser),
    linkedByEmail: String(linkedByEmail),
  });
  url.hash = new URLSearchParams({ token: session.accessToken }).toString();
  return { location: url.href };
};

/**
 * Ends a social sign-in: the user that the provider vouches for is signed in, and the browser goes to the project's
 * landing page with the access token and `rtCode`, or with `error`. A state that no project can be read from → 400.
 */
export const finishSignIn = async (
  provider: IdentityProvider,
  sent: ProviderReturn,
  client: Client,
): Promise<{ readonly location: string }> => {
  const projectId = projectOfState(sent.state ?? '');
  const project = projectId === undefined ? undefined : await findProjectById(projectId);
  if (!project) throw outdated();
  return orErrorLanding(project, (siteUrl) => signIn(project, siteUrl, provider, sent, client));
};
