import { signOut } from '../../../shared/accounts/revoke-sessions.ts';
import { dashboardRefreshToken, noDashboardCookies } from '../../../shared/http/dashboard-cookie.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { developerScope } from '../../../shared/table/item-key.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['sign-out-developer'];

export const handler = publicEndpoint(route).handler(async (event) => {
  const token = dashboardRefreshToken(event);
  if (token) await signOut(developerScope, token);
  return respond(route, { success: true, message: 'Logged out' }, { cookies: noDashboardCookies(event) });
});
