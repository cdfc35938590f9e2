import { AppError } from '../../../core/errors.ts';
import { type Client, developerScope } from '../../session-keys.ts';
import { issueExchangeCode, redeemExchangeCode } from '../../social/exchange-code.ts';
import { fetchProfile } from '../../social/fetch-profile.ts';
import { outdated, type ProviderReturn, requireCode } from '../../social/finish-sign-in.ts';
import { landingUrl, orErrorLanding } from '../../social/landing.ts';
import { redeemCode } from '../../social/oauth-client.ts';
import { requireProvider } from '../../social/providers.ts';
import { signInFailed } from '../../social/sign-in-failure.ts';
import { consumeState } from '../../social/state.ts';
import type { DeveloperRecord } from '../developer-record.ts';
import { refreshDeveloper } from '../refresh-developer.ts';
import { type SignIn, signIn } from '../sign-in.ts';
import { type DashboardApp, requireDashboardApp, withSecret } from './github-app.ts';
import { linkDeveloper } from './link-developer.ts';

const signInAs = async (record: DeveloperRecord, client: Client): Promise<SignIn> => {
  try {
    return await signIn(record, client);
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'INVALID_CREDENTIALS')) throw error;
    throw signInFailed('Your account was changed at this very moment. Please sign in again.', error);
  }
};

const finish = async (
  app: DashboardApp,
  sent: ProviderReturn,
  client: Client,
): Promise<{ readonly location: string }> => {
  const github = requireProvider('github');
  const { state, verifier } = sent;
  const known = state !== undefined && verifier !== undefined;
  if (!known || !(await consumeState(developerScope, state, github.name, verifier))) throw outdated();
  const token = await redeemCode(github, await withSecret(app), requireCode(github, sent), verifier);
  const { record, isNewDeveloper, linkedByEmail } = await linkDeveloper(await fetchProfile(github, token));
  const session = await signInAs(record, client);
  const url = landingUrl(app.dashboardUrl, {
    rtCode: await issueExchangeCode(developerScope, session),
    provider: github.name,
    isNewDeveloper: String(isNewDeveloper),
    linkedByEmail: String(linkedByEmail),
  });
  url.hash = new URLSearchParams({ token: session.accessToken }).toString();
  return { location: url.href };
};

/**
 * Ends a developer's sign-in with GitHub: the browser goes to the dashboard's own pages, and nowhere else, with the
 * access token and `rtCode`, or with `error` (contract 6, "Developer accounts"). Not set up → 404 `UNKNOWN_PROVIDER`.
 */
export const finishGithub = async (sent: ProviderReturn, client: Client): Promise<{ readonly location: string }> => {
  const app = requireDashboardApp();
  return orErrorLanding({ siteUrl: app.dashboardUrl }, () => finish(app, sent, client));
};

/**
 * Exchanges the code of such a sign-in, shown with its access token, for a session whose refresh token goes into the
 * cookie. For one of any number of parallel callers, within 60 s; everything else → 400 `INVALID_EXCHANGE_CODE`.
 */
export const exchangeGithubCode = async (rtCode: string, accessToken: string): Promise<SignIn> =>
  refreshDeveloper(await redeemExchangeCode(developerScope, rtCode, accessToken));
