import { exchangeGithubCode } from '../../../shared/accounts/developers/github/finish-github.ts';
import { dashboardCookies } from '../../../shared/http/dashboard-cookie.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['exchange-github-code'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const { refreshToken, ...data } = await exchangeGithubCode(input.body.rtCode, input.body.token);
  const cookies = dashboardCookies(event, refreshToken);
  return respond(route, { success: true, data, message: 'Signed in with GitHub' }, { cookies });
});
