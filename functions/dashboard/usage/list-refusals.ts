import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listRefusals } from '../../../shared/usage/list-rejected.ts';
import { dashboardUsageRoutes } from './routes.ts';

const route = dashboardUsageRoutes['list-refusals'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await listRefusals(owned.project.id, input.query);
  return respond(route, { success: true, data, message: 'Rejected requests fetched' });
});
