import { developerSignIns } from '../../../shared/accounts/developers/developers.ts';
import { signInWithFactor } from '../../../shared/accounts/sign-in.ts';
import { developerSignedIn } from '../../../shared/http/cookies.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { clientOf } from '../../../shared/http/stack.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['sign-in-developer-with-factor'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const signedIn = await signInWithFactor(developerSignIns(), input.body, clientOf(event));
  return respond(route, ...developerSignedIn(event, signedIn, 'Signed in'));
});
