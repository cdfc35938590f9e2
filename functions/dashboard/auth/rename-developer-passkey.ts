import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { renamePasskey } from '../../../shared/accounts/passkeys/passkey.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['rename-developer-passkey'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn, input }) => {
  const data = await renamePasskey(developerAccounts, signedIn, input.params.id, input.body.name);
  return respondExactly(route, { success: true, data, message: 'Passkey renamed' });
});
