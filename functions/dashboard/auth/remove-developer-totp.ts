import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { removeTotp } from '../../../shared/accounts/second-factor.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['remove-developer-totp'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn, input }) => {
  await removeTotp(developerAccounts, signedIn, input.body);
  return respondExactly(route, { success: true, message: 'Authenticator app removed' });
});
