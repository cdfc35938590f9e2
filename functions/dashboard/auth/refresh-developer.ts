import { refreshSignIn } from '../../../shared/accounts/sign-in.ts';
import { developerSignIns } from '../../../shared/accounts/stores/developers.ts';
import { clientOf } from '../../../shared/http/client.ts';
import { publicEndpoint } from '../../../shared/http/public-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardCookie } from '../../../shared/http/sign-in-cookies.ts';
import { developerSignedIn } from '../../../shared/http/signed-in-reply.ts';
import { parseIdempotencyKey } from '../../../shared/work/once/idempotency-key.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['refresh-developer'];

export const handler = publicEndpoint(route).handler(async (event) => {
  const key = parseIdempotencyKey(event.headers['idempotency-key']);
  const signIn = await refreshSignIn(developerSignIns(), dashboardCookie.get(event), clientOf(event), key);
  return respond(route, ...developerSignedIn(event, signIn, 'Session refreshed'));
});
