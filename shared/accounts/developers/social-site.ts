import { dashboardSettings, serviceName } from '../../core/config.ts';
import { AppError } from '../../core/errors.ts';
import { developerScope } from '../../persistence/item-keys.ts';
import { settingText } from '../../persistence/secrets.ts';
import { type RelyingParty, relyingParty } from '../passkeys/passkey.ts';
import { passwordlessAccount } from '../sign-in.ts';
import { signInFailed } from '../social/ask-provider.ts';
import type { SocialReturn } from '../social/finish-sign-in.ts';
import type { OpenAccount } from '../social/link.ts';
import type { OAuthApp } from '../social/oauth-client.ts';
import type { SocialSite } from '../social/start-sign-in.ts';
import { type DeveloperRecord, developerSignIns, insertDeveloper, requireOpenSignup } from './developers.ts';

/** The operator's GitHub app. Throws 404 `UNKNOWN_PROVIDER` without one. */
const requireDashboardApp = (): OAuthApp & { readonly siteUrl: string } => {
  const { DASHBOARD_URL, DASHBOARD_API_URL, DASHBOARD_GITHUB_CLIENT_ID } = dashboardSettings();
  if (!DASHBOARD_URL || !DASHBOARD_GITHUB_CLIENT_ID) {
    throw new AppError('UNKNOWN_PROVIDER', 'Sign-in with GitHub is not set up for this dashboard.');
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
  if (email === undefined) throw signInFailed('A developer needs a verified email address.');
  try {
    return await insertDeveloper(await passwordlessAccount(email, identity));
  } catch (error) {
    if (error instanceof AppError && error.code === 'DEVELOPER_EXISTS') return undefined;
    throw error;
  }
};

export const developerSite = (): SocialSite => {
  const { siteUrl, ...app } = requireDashboardApp();
  return { scope: developerScope, siteUrl, app: async () => app };
};

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

/** Browsers reject passkeys at IP addresses, so 127.0.0.1 counts as `localhost`. Throws 400 `SITE_URL_REQUIRED`. */
export const consoleRelyingParty = (): RelyingParty => {
  const siteUrl = dashboardSettings().DASHBOARD_URL?.replace(/^http:\/\/127\.0\.0\.1(?=[:/]|$)/, 'http://localhost');
  const site = { name: serviceName, siteUrl: siteUrl ?? null, allowedDomains: [] };
  return relyingParty(site, 'Set dashboardUrl in the settings of the service (locally DASHBOARD_URL).');
};
