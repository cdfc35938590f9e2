import { refreshSignIn } from '../../../shared/accounts/sign-in.ts';
import { exchangeCode } from '../../../shared/accounts/social/exchange-code.ts';
import { developerSignIns } from '../../../shared/accounts/stores/developers.ts';
import { clientOf } from '../../../shared/http/client.ts';
import { publicEndpoint } from '../../../shared/http/public-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { developerSignedIn } from '../../../shared/http/signed-in-reply.ts';
import { developerScope } from '../../../shared/table/item-key.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['exchange-developer-code'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const refreshToken = await exchangeCode(developerScope, input.body.rtCode, input.body.token);
  const signedIn = await refreshSignIn(developerSignIns(), refreshToken, clientOf(event));
  return respond(route, ...developerSignedIn(event, signedIn, 'Signed in with GitHub'));
});
