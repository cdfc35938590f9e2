import { signInWithFactor } from '../../shared/accounts/second-factor/sign-in-with-factor.ts';
import { userSignIns } from '../../shared/accounts/stores/users.ts';
import { clientOf } from '../../shared/http/client.ts';
import { usersEndpoint } from '../../shared/http/endpoint.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { signedIn } from '../../shared/http/signed-in-reply.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['sign-in-with-factor'];

export const handler = usersEndpoint(route).handler(async (event, context) => {
  const done = await signInWithFactor(userSignIns(context.project), context.input.body, clientOf(event));
  return respondExactly(route, ...signedIn(event, context, done, 'Logged in'));
});
