import { deleteUser } from '../../../shared/accounts/users/manage-users.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardUserRoutes } from './routes.ts';

const route = dashboardUserRoutes['delete-user'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { id } = input.params;
  await deleteUser(owned.project, id);
  return respondExactly(route, { success: true, data: { _id: id }, message: 'User deleted' });
});
