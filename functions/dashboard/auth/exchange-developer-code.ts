import { developerSignIns } from '../../../shared/accounts/developers/developers.ts';
import { refreshSignIn } from '../../../shared/accounts/sign-in.ts';
import { exchangeCode } from '../../../shared/accounts/social/start-sign-in.ts';
import { developerSignedIn } from '../../../shared/http/cookies.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { clientOf } from '../../../shared/http/stack.ts';
import { developerScope } from '../../../shared/persistence/item-keys.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['exchange-developer-code'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const refreshToken = await exchangeCode(developerScope, input.body.rtCode, input.body.token);
  const signedIn = await refreshSignIn(developerSignIns(), refreshToken, clientOf(event));
  return respond(route, ...developerSignedIn(event, signedIn, 'Signed in with GitHub'));
});
