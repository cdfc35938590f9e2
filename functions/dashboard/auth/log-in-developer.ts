import { logInDeveloper } from '../../../shared/accounts/developers/log-in-developer.ts';
import { clientOf } from '../../../shared/http/client.ts';
import { dashboardCookies } from '../../../shared/http/dashboard-cookie.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['log-in-developer'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const { refreshToken, ...data } = await logInDeveloper(input.body, clientOf(event));
  const cookies = dashboardCookies(event, refreshToken);
  return respond(route, { success: true, data, message: 'Logged in' }, { cookies });
});
