import { signOut } from '../../../shared/accounts/sessions.ts';
import { dashboardCookie } from '../../../shared/http/cookies.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { developerScope } from '../../../shared/persistence/item-keys.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['sign-out-developer'];

export const handler = publicEndpoint(route).handler(async (event) => {
  const token = dashboardCookie.get(event);
  if (token) await signOut(developerScope, token);
  return respond(route, { success: true, message: 'Logged out' }, { cookies: dashboardCookie.remove(event) });
});
