import { developerSignIns } from '../../../shared/accounts/developers/developers.ts';
import { refreshSignIn } from '../../../shared/accounts/sign-in.ts';
import { dashboardCookie, developerSignedIn } from '../../../shared/http/cookies.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { clientOf } from '../../../shared/http/stack.ts';
import { parseIdempotencyKey } from '../../../shared/persistence/idempotency.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['refresh-developer'];

export const handler = publicEndpoint(route).handler(async (event) => {
  const key = parseIdempotencyKey(event.headers['idempotency-key']);
  const signIn = await refreshSignIn(developerSignIns(), dashboardCookie.get(event), clientOf(event), key);
  return respond(route, ...developerSignedIn(event, signIn, 'Session refreshed'));
});
