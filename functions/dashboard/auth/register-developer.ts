import { registerDeveloper } from '../../../shared/accounts/developers/register-developer.ts';
import { sendVerification } from '../../../shared/accounts/email-tokens/send-email-token.ts';
import { developerAccounts, developerAnswer } from '../../../shared/accounts/stores/developers.ts';
import { clientOf } from '../../../shared/http/client.ts';
import { dashboardCookies } from '../../../shared/http/dashboard-cookie.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['register-developer'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const signIn = await registerDeveloper(input.body, clientOf(event));
  await sendVerification(developerAccounts, signIn.account);
  const cookies = dashboardCookies(event, signIn.session.refreshToken);
  return respond(route, { success: true, data: developerAnswer(signIn), message: 'Account created' }, { cookies });
});
