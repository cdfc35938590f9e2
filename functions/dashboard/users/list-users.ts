import { listUsers } from '../../../shared/accounts/users/manage-users.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardUserRoutes } from './routes.ts';

const route = dashboardUserRoutes['list-users'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await listUsers(owned.project, input.query);
  return respondExactly(route, { success: true, data, message: 'Users fetched' });
});
