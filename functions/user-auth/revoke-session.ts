import { revokeSession } from '../../shared/accounts/sessions.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { projectScope } from '../../shared/persistence/item-keys.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['revoke-session'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer, input }) => {
  const { id } = input.params;
  await revokeSession(projectScope(project.id), bearer, id);
  return respondExactly(route, { success: true, data: { _id: id }, message: 'Session revoked' });
});
