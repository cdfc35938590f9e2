import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { deleteInvitation } from '../../../shared/members/members.ts';
import { dashboardMemberRoutes } from './routes.ts';

const route = dashboardMemberRoutes['delete-invitation'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { id } = input.params;
  await deleteInvitation(owned, id);
  return respondExactly(route, { success: true, data: { _id: id }, message: 'Invitation withdrawn' });
});
