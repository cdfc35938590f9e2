import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { startTotp } from '../../../shared/accounts/second-factor.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['start-developer-totp'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn }) => {
  const data = await startTotp(developerAccounts, signedIn);
  return respondExactly(route, { success: true, data, message: 'Add it to an authenticator app, then confirm a code' });
});
