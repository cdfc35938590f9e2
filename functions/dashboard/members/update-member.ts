import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { updateMember } from '../../../shared/members/members.ts';
import { dashboardMemberRoutes } from './routes.ts';

const route = dashboardMemberRoutes['update-member'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, developer, input }) => {
  const { developerId } = input.params;
  const { role } = input.body;
  await updateMember(owned, developerId, role, developer.personalToken);
  return respondExactly(route, { success: true, data: { _id: developerId, role }, message: 'Role changed' });
});
