import { userSecurity } from '../../../shared/accounts/users/manage-users.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardUserRoutes } from './routes.ts';

const route = dashboardUserRoutes['get-user-security'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await userSecurity(owned.project, input.params.id);
  return respondExactly(route, { success: true, data, message: 'Ways to sign in fetched' });
});
