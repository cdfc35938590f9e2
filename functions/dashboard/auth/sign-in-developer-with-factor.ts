import { signInWithFactor } from '../../../shared/accounts/second-factor/sign-in-with-factor.ts';
import { developerSignIns } from '../../../shared/accounts/stores/developers.ts';
import { clientOf } from '../../../shared/http/client.ts';
import { publicEndpoint } from '../../../shared/http/public-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { developerSignedIn } from '../../../shared/http/signed-in-reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['sign-in-developer-with-factor'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const signedIn = await signInWithFactor(developerSignIns(), input.body, clientOf(event));
  return respond(route, ...developerSignedIn(event, signedIn, 'Logged in'));
});
