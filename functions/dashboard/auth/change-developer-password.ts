import { changeDeveloperPassword } from '../../../shared/accounts/developers/change-password.ts';
import { clientOf } from '../../../shared/http/client.ts';
import { accountEndpoint } from '../../../shared/http/endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['change-developer-password'];

export const handler = accountEndpoint(route).handler(async (event, { signedIn, input }) => {
  await changeDeveloperPassword(signedIn, input.body, clientOf(event));
  return respondExactly(route, { success: true, message: 'Password changed' });
});
