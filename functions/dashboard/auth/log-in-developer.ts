import { logIn } from '../../../shared/accounts/log-in.ts';
import { developerAnswer, developerSignIns } from '../../../shared/accounts/stores/developers.ts';
import { clientOf } from '../../../shared/http/client.ts';
import { dashboardCookies } from '../../../shared/http/dashboard-cookie.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['log-in-developer'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const signIn = await logIn(developerSignIns(), input.body, clientOf(event));
  const cookies = dashboardCookies(event, signIn.session.refreshToken);
  return respond(route, { success: true, data: developerAnswer(signIn), message: 'Logged in' }, { cookies });
});
