import { dashboardSettings } from '../../core/config.ts';
import { serviceName } from '../../core/service-name.ts';
import { type RelyingParty, relyingParty } from '../passkeys/relying-party.ts';

/**
 * The relying party of developers: the host of the console's pages. Locally it is `localhost`, where they are as well
 * as at 127.0.0.1, which no browser takes for a host of passkeys. Another IP address → 400 `SITE_URL_REQUIRED`.
 */
export const consoleParty = (): RelyingParty => {
  const siteUrl = dashboardSettings().DASHBOARD_URL?.replace(/^http:\/\/127\.0\.0\.1(?=[:/]|$)/, 'http://localhost');
  const site = { name: serviceName, siteUrl: siteUrl ?? null, allowedDomains: [] };
  return relyingParty(site, 'Set dashboardUrl in the settings of the service (locally DASHBOARD_URL).');
};
