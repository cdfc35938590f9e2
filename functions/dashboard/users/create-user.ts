import { createUser } from '../../../shared/accounts/users/manage-users.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardUserRoutes } from './routes.ts';

const route = dashboardUserRoutes['create-user'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await createUser(owned.project, input.body);
  return respondExactly(route, { success: true, data, message: 'User created' });
});
