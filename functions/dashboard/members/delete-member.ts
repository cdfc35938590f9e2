import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { deleteMember } from '../../../shared/members/members.ts';
import { dashboardMemberRoutes } from './routes.ts';

const route = dashboardMemberRoutes['delete-member'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, developer, input }) => {
  const { developerId } = input.params;
  await deleteMember(owned, developerId, developer.developerId);
  return respondExactly(route, { success: true, data: { _id: developerId }, message: 'Member removed' });
});
