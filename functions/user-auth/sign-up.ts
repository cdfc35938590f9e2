import { signUpUser } from '../../shared/accounts/users/sign-up.ts';
import { signedIn } from '../../shared/http/cookies.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { clientOf } from '../../shared/http/stack.ts';
import { signUpEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['sign-up'];

export const handler = signUpEndpoint(route).handler(async (event, context) => {
  const { project, users, input, run } = context;
  const done = await signUpUser(project, users, input.body, clientOf(event), run);
  return respondExactly(route, ...(await signedIn(event, context, done, 'Account created')));
});
