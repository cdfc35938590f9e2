import { logIn } from '../../shared/accounts/users/log-in.ts';
import { clientOf } from '../../shared/http/client.ts';
import { usersEndpoint } from '../../shared/http/endpoint.ts';
import { bodyToken, cookieHints, refreshCookies } from '../../shared/http/refresh-cookie.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['log-in'];

export const handler = usersEndpoint(route).handler(async (event, { project, users, input }) => {
  const signIn = await logIn(project, users, input.body, clientOf(event));
  return respondExactly(
    route,
    {
      success: true,
      message: 'Logged in',
      ...signIn,
      refreshToken: bodyToken(event, signIn.refreshToken),
      hints: cookieHints(event, project, signIn.refreshToken),
    },
    { cookies: refreshCookies(event, project, signIn.refreshToken) },
  );
});
