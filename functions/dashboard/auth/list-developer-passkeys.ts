import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { listPasskeys } from '../../../shared/accounts/passkeys/passkey.ts';
import { pageFrom } from '../../../shared/core/values.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['list-developer-passkeys'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn, input }) => {
  const data = pageFrom(await listPasskeys(developerAccounts, signedIn), input.query);
  return respondExactly(route, { success: true, data, message: 'Passkeys fetched' });
});
