import { logOutDeveloper } from '../../../shared/accounts/developers/log-out-developer.ts';
import { dashboardRefreshToken, noDashboardCookies } from '../../../shared/http/dashboard-cookie.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['log-out-developer'];

export const handler = publicEndpoint(route).handler(async (event) => {
  await logOutDeveloper(dashboardRefreshToken(event));
  return respond(route, { success: true, message: 'Logged out' }, { cookies: noDashboardCookies(event) });
});
