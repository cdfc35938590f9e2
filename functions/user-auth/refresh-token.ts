import { refresh } from '../../shared/accounts/sign-in.ts';
import { userSignIns } from '../../shared/accounts/stores/users.ts';
import { clientOf } from '../../shared/http/client.ts';
import { usersEndpoint } from '../../shared/http/endpoint.ts';
import { bodyToken, refreshCookie, sentRefreshToken } from '../../shared/http/refresh-cookie.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { parseIdempotencyKey } from '../../shared/work/once/idempotency-key.ts';
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
