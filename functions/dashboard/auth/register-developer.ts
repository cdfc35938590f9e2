import { sendDeveloperVerification } from '../../../shared/accounts/developers/email-tokens.ts';
import { registerDeveloper } from '../../../shared/accounts/developers/register-developer.ts';
import { clientOf } from '../../../shared/http/client.ts';
import { dashboardCookies } from '../../../shared/http/dashboard-cookie.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['register-developer'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const { refreshToken, ...data } = await registerDeveloper(input.body, clientOf(event));
  await sendDeveloperVerification(data.developer);
  const cookies = dashboardCookies(event, refreshToken);
  return respond(route, { success: true, data, message: 'Account created' }, { cookies });
});
