import { developerAccounts, signUpDeveloper } from '../../../shared/accounts/developers/developers.ts';
import { sendVerification } from '../../../shared/accounts/email-proofs.ts';
import { developerSignedIn } from '../../../shared/http/cookies.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { clientOf } from '../../../shared/http/stack.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['sign-up-developer'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const signedIn = await signUpDeveloper(input.body, clientOf(event));
  await sendVerification(developerAccounts, signedIn.account);
  return respond(route, ...developerSignedIn(event, signedIn, 'Account created'));
});
