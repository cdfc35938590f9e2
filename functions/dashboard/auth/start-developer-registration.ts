import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { consoleRelyingParty } from '../../../shared/accounts/developers/social-site.ts';
import { startRegistration } from '../../../shared/accounts/passkeys/passkey.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['start-developer-registration'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn }) => {
  const data = await startRegistration(developerAccounts, consoleRelyingParty(), signedIn);
  return respondExactly(route, { success: true, data, message: 'Create a passkey with these options' });
});
