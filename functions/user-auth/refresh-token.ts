import { refresh } from '../../shared/accounts/sign-in.ts';
import { userSignIns } from '../../shared/accounts/users/users.ts';
import { bodyToken, refreshCookie, sentRefreshToken } from '../../shared/http/cookies.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { clientOf } from '../../shared/http/stack.ts';
import { usersEndpoint } from '../../shared/http/user-endpoint.ts';
import { parseIdempotencyKey } from '../../shared/persistence/idempotency.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['refresh-token'];

export const handler = usersEndpoint(route).handler(async (event, { project }) => {
  const key = parseIdempotencyKey(event.headers['idempotency-key']);
  const { token, inHeader } = sentRefreshToken(event, project);
  const session = await refresh(userSignIns(project), token, clientOf(event), key);
  return respondExactly(
    route,
    {
      success: true,
      message: 'Session refreshed',
      ...session,
      token: session.accessToken,
      refreshToken: bodyToken(event, session.refreshToken, inHeader),
    },
    { cookies: refreshCookie.set(event, session.refreshToken, project) },
  );
});
