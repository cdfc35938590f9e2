import { changePassword } from '../../../shared/accounts/change-credentials.ts';
import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { clientOf } from '../../../shared/http/stack.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['change-developer-password'];

export const handler = accountEndpoint(route).handler(async (event, { signedIn, input }) => {
  await changePassword(developerAccounts, signedIn, input.body, clientOf(event));
  return respondExactly(route, { success: true, message: 'Password changed' });
});
