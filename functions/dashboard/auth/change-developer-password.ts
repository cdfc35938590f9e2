import { changePassword } from '../../../shared/accounts/change-password.ts';
import { developerAccounts } from '../../../shared/accounts/stores/developers.ts';
import { clientOf } from '../../../shared/http/client.ts';
import { accountEndpoint } from '../../../shared/http/endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['change-developer-password'];

export const handler = accountEndpoint(route).handler(async (event, { signedIn, input }) => {
  await changePassword(developerAccounts, signedIn, input.body, clientOf(event));
  return respondExactly(route, { success: true, message: 'Password changed' });
});
