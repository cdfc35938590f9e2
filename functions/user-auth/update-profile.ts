import { requireUserSession } from '../../shared/accounts/sessions.ts';
import { updateProfile } from '../../shared/accounts/users/profile.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['update-profile'];

export const handler = userEndpoint(route).handler(async (_event, { project, users, bearer, input }) => {
  if (project.strictSessions) await requireUserSession(project.id, bearer);
  const user = await updateProfile(project, users, bearer, input.body);
  return respondExactly(route, { success: true, message: 'Profile updated', user });
});
