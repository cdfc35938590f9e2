import { ownedProjectEndpoint } from '../../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../../shared/http/reply.ts';
import { listBroadcasts } from '../../../../shared/mail/audiences.ts';
import { dashboardBroadcastRoutes } from './routes.ts';

const route = dashboardBroadcastRoutes['list-project-broadcasts'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await listBroadcasts(owned.project, input.query);
  return respond(route, { success: true, data, message: 'Broadcasts fetched successfully.' });
});
