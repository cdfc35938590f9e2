import { signOut } from '../../shared/accounts/sessions.ts';
import { refreshCookie, sentRefreshToken } from '../../shared/http/cookies.ts';
import { projectEndpoint } from '../../shared/http/project-endpoint.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { projectScope } from '../../shared/persistence/item-keys.ts';
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
