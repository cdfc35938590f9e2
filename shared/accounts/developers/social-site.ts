import { settingText } from '../../clients/secrets.ts';
import { dashboardSettings } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { developerScope } from '../../table/item-key.ts';
import { vouchedAccount } from '../sign-up.ts';
import type { SocialReturn } from '../social/finish-sign-in.ts';
import { signInFailed } from '../social/landing.ts';
import type { OpenAccount } from '../social/link-account.ts';
import type { OAuthApp } from '../social/oauth-client.ts';
import type { SocialSite } from '../social/state.ts';
import { developerSignIns, insertDeveloper, requireOpenSignup } from '../stores/developers.ts';
import type { DeveloperRecord } from './developer-record.ts';

/** The dashboard's app at GitHub as the operator has set it up, and its pages; otherwise 404 `UNKNOWN_PROVIDER`. */
const requireDashboardApp = (): OAuthApp & { readonly siteUrl: string } => {
  const { DASHBOARD_URL, DASHBOARD_API_URL, DASHBOARD_GITHUB_CLIENT_ID } = dashboardSettings();
  if (!DASHBOARD_URL || !DASHBOARD_GITHUB_CLIENT_ID) {
    throw new AppError('UNKNOWN_PROVIDER', 'Signing in with GitHub is not set up for this dashboard.');
  }
  return {
    clientId: DASHBOARD_GITHUB_CLIENT_ID,
    callback: `${DASHBOARD_API_URL}/api/auth/github/callback`,
    siteUrl: DASHBOARD_URL,
  };
};

const clientSecret = (): Promise<string> => {
  const { DASHBOARD_GITHUB_SECRET, DASHBOARD_GITHUB_SECRET_ARN } = dashboardSettings();
  return settingText(DASHBOARD_GITHUB_SECRET, DASHBOARD_GITHUB_SECRET_ARN);
};

export const openDeveloper: OpenAccount<DeveloperRecord> = async ({ email, identity }) => {
  requireOpenSignup();
  if (email === undefined) throw signInFailed('A developer needs a verified e-mail address.');
  try {
    return await insertDeveloper(await vouchedAccount(email, identity));
  } catch (error) {
    if (error instanceof AppError && error.code === 'DEVELOPER_EXISTS') return undefined;
    throw error;
  }
};

export const developerSite = (): SocialSite => {
  const { siteUrl, ...app } = requireDashboardApp();
  return { scope: developerScope, siteUrl, app: async () => app };
};

/** Where they end: at the dashboard's own pages, and nowhere else. */
export const developerReturn = (): SocialReturn<DeveloperRecord> => {
  const { siteUrl, ...app } = requireDashboardApp();
  const store = developerSignIns();
  return {
    store,
    siteUrl,
    credentials: async () => ({ ...app, clientSecret: await clientSecret() }),
    opening: async () => openDeveloper,
    told: ({ isNew }) => ({ isNewDeveloper: String(isNew) }),
  };
};
