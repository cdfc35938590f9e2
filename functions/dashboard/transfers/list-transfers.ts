import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listTransfers } from '../../../shared/transfers/manage.ts';
import { dashboardTransferRoutes } from './routes.ts';

const route = dashboardTransferRoutes['list-transfers'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await listTransfers(owned.project, input.query);
  return respond(route, { success: true, data, message: 'Exports and imports fetched' });
});
