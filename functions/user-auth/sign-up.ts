import { userAnswer } from '../../shared/accounts/stores/users.ts';
import { signUpUser } from '../../shared/accounts/users/sign-up.ts';
import { clientOf } from '../../shared/http/client.ts';
import { usersEndpoint } from '../../shared/http/endpoint.ts';
import { bodyToken, cookieHints, refreshCookie } from '../../shared/http/refresh-cookie.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['sign-up'];

export const handler = usersEndpoint(route).handler(async (event, { project, users, input }) => {
  const signedIn = await signUpUser(project, users, input.body, clientOf(event));
  return respondExactly(
    route,
    {
      success: true,
      message: 'Account created',
      ...userAnswer(users, signedIn),
      refreshToken: bodyToken(event, signedIn.session.refreshToken),
      hints: cookieHints(event, project, signedIn.session.refreshToken),
    },
    { cookies: refreshCookie.set(event, signedIn.session.refreshToken, project) },
  );
});
