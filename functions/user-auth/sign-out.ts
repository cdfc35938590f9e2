import { signOut } from '../../shared/accounts/revoke-sessions.ts';
import { projectEndpoint } from '../../shared/http/endpoint.ts';
import { refreshCookie, sentRefreshToken } from '../../shared/http/refresh-cookie.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { projectScope } from '../../shared/table/item-key.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['sign-out'];

export const handler = projectEndpoint(route).handler(async (event, { project }) => {
  const { token } = sentRefreshToken(event, project);
  if (token) await signOut(projectScope(project.id), token);
  return respondExactly(
    route,
    { success: true, message: 'Logged out' },
    { cookies: refreshCookie.remove(event, project) },
  );
});
