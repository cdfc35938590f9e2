import { ownedProjectEndpoint } from '../../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../../shared/http/reply.ts';
import { getBroadcast } from '../../../../shared/mail/audiences.ts';
import { dashboardBroadcastRoutes } from './routes.ts';

const route = dashboardBroadcastRoutes['get-project-broadcast'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await getBroadcast(owned.project, input.params.id);
  return respond(route, { success: true, data, message: 'Broadcast fetched successfully.' });
});
