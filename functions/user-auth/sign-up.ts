import { signUpUser } from '../../shared/accounts/users/sign-up.ts';
import { signedIn } from '../../shared/http/cookies.ts';
import { usersEndpoint } from '../../shared/http/endpoint.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { clientOf } from '../../shared/http/stack.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['sign-up'];

export const handler = usersEndpoint(route).handler(async (event, context) => {
  const { project, users, input } = context;
  const done = await signUpUser(project, users, input.body, clientOf(event));
  return respondExactly(route, ...(await signedIn(event, context, done, 'Account created')));
});
