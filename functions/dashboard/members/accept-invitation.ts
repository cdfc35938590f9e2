import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { acceptInvitation } from '../../../shared/members/members.ts';
import { dashboardMemberRoutes } from './routes.ts';

const route = dashboardMemberRoutes['accept-invitation'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn, input }) => {
  const data = await acceptInvitation(signedIn.userId, input.body.token);
  return respondExactly(route, { success: true, data, message: 'You are a member of the project now' });
});
