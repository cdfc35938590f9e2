import { refreshDeveloper } from '../../../shared/accounts/developers/refresh-developer.ts';
import { dashboardCookies, dashboardRefreshToken } from '../../../shared/http/dashboard-cookie.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['refresh-developer'];

export const handler = publicEndpoint(route).handler(async (event) => {
  const { refreshToken, ...data } = await refreshDeveloper(dashboardRefreshToken(event));
  const cookies = dashboardCookies(event, refreshToken);
  return respond(route, { success: true, data, message: 'Session refreshed' }, { cookies });
});
