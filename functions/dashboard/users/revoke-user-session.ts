import { revokeUserSession } from '../../../shared/accounts/users/manage-users.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardUserRoutes } from './routes.ts';

const route = dashboardUserRoutes['revoke-user-session'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { id, sessionId } = input.params;
  await revokeUserSession(owned.project, id, sessionId);
  return respondExactly(route, { success: true, data: { _id: sessionId }, message: 'Session revoked' });
});
