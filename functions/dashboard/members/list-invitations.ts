import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { listInvitations } from '../../../shared/members/members.ts';
import { dashboardMemberRoutes } from './routes.ts';

const route = dashboardMemberRoutes['list-invitations'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) =>
  respondExactly(route, { success: true, data: listInvitations(owned, input.query), message: 'Invitations fetched' }),
);
