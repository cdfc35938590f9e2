import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { listMembers } from '../../../shared/members/members.ts';
import { dashboardMemberRoutes } from './routes.ts';

const route = dashboardMemberRoutes['list-members'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await listMembers(owned, input.query);
  return respondExactly(route, { success: true, data, message: 'Members fetched' });
});
