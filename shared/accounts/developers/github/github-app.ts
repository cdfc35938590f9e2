import { secret } from '../../../clients/secrets.ts';
import { dashboardSettings } from '../../../core/config.ts';
import { AppError } from '../../../core/errors.ts';
import type { ClientCredentials, OAuthApp } from '../../social/oauth-client.ts';

/** The dashboard's app at GitHub, and the dashboard's pages, to which sign-ins return. */
export interface DashboardApp extends OAuthApp {
  readonly dashboardUrl: string;
}

/** The app as the operator has set it up; otherwise 404 `UNKNOWN_PROVIDER`. */
export const requireDashboardApp = (): DashboardApp => {
  const { DASHBOARD_URL, DASHBOARD_API_URL, DASHBOARD_GITHUB_CLIENT_ID } = dashboardSettings();
  if (!DASHBOARD_URL || !DASHBOARD_GITHUB_CLIENT_ID) {
    throw new AppError('UNKNOWN_PROVIDER', 'Signing in with GitHub is not set up for this dashboard.');
  }
  return {
    clientId: DASHBOARD_GITHUB_CLIENT_ID,
    callback: `${DASHBOARD_API_URL}/api/auth/github/callback`,
    dashboardUrl: DASHBOARD_URL,
  };
};

/** The same with the secret of the app. */
export const withSecret = async (app: OAuthApp): Promise<ClientCredentials> => {
  const { DASHBOARD_GITHUB_SECRET, DASHBOARD_GITHUB_SECRET_ARN = '' } = dashboardSettings();
  return { ...app, clientSecret: DASHBOARD_GITHUB_SECRET || (await secret(DASHBOARD_GITHUB_SECRET_ARN)) };
};
