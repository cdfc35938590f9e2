import { signIn } from '../../shared/accounts/sign-in.ts';
import { userSignIns } from '../../shared/accounts/users/users.ts';
import { signedIn } from '../../shared/http/cookies.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { clientOf } from '../../shared/http/stack.ts';
import { usersEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['sign-in'];

export const handler = usersEndpoint(route).handler(async (event, context) => {
  const done = await signIn(userSignIns(context.project), context.input.body, clientOf(event));
  return respondExactly(route, ...(await signedIn(event, context, done, 'Signed in')));
});
