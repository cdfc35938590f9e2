import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { createInvitation } from '../../../shared/members/invitations.ts';
import { dashboardMemberRoutes } from './routes.ts';

const route = dashboardMemberRoutes['create-invitation'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, developer, input }) => {
  const data = await createInvitation(owned, developer, input.body);
  return respondExactly(route, { success: true, data, message: 'Invitation sent' });
});
