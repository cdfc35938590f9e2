import { ownedProjectEndpoint } from '../../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../../shared/http/reply.ts';
import { createBroadcast } from '../../../../shared/mail/audiences.ts';
import { dashboardBroadcastRoutes } from './routes.ts';

const route = dashboardBroadcastRoutes['create-project-broadcast'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await createBroadcast(owned.project, input.body);
  return respond(route, { success: true, data, message: 'Broadcast created successfully.' });
});
