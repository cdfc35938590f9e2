import { signUpDeveloper } from '../../../shared/accounts/developers/sign-up-developer.ts';
import { sendVerification } from '../../../shared/accounts/email-tokens/send-email-token.ts';
import { developerAccounts } from '../../../shared/accounts/stores/developers.ts';
import { clientOf } from '../../../shared/http/client.ts';
import { publicEndpoint } from '../../../shared/http/public-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { developerSignedIn } from '../../../shared/http/signed-in-reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['sign-up-developer'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const signedIn = await signUpDeveloper(input.body, clientOf(event));
  await sendVerification(developerAccounts, signedIn.account);
  return respond(route, ...developerSignedIn(event, signedIn, 'Account created'));
});
