import { signUpAnonymously } from '../../shared/accounts/users/anonymous.ts';
import { signedIn } from '../../shared/http/cookies.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { clientOf } from '../../shared/http/stack.ts';
import { signUpEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['sign-up-anonymously'];

export const handler = signUpEndpoint(route).handler(async (event, context) => {
  const done = await signUpAnonymously(context.project, context.users, clientOf(event), context.run);
  return respondExactly(route, ...(await signedIn(event, context, done, 'Account created')));
});
