import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { consoleRelyingParty } from '../../../shared/accounts/developers/social-site.ts';
import { registerPasskey } from '../../../shared/accounts/passkeys/ceremony.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['register-developer-passkey'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn, input }) => {
  const data = await registerPasskey(developerAccounts, consoleRelyingParty(), signedIn, input.body);
  return respondExactly(route, { success: true, data, message: 'Passkey added' });
});
