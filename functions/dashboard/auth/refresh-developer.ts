import { refreshSignIn } from '../../../shared/accounts/sign-in.ts';
import { developerAnswer, developerSignIns } from '../../../shared/accounts/stores/developers.ts';
import { dashboardCookies, dashboardRefreshToken } from '../../../shared/http/dashboard-cookie.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['refresh-developer'];

export const handler = publicEndpoint(route).handler(async (event) => {
  const signIn = await refreshSignIn(developerSignIns(), dashboardRefreshToken(event));
  const cookies = dashboardCookies(event, signIn.session.refreshToken);
  return respond(route, { success: true, data: developerAnswer(signIn), message: 'Session refreshed' }, { cookies });
});
