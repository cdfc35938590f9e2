import { ownedCollectionEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { startExport } from '../../../shared/transfers/export.ts';
import { dashboardTransferRoutes } from './routes.ts';

const route = dashboardTransferRoutes['start-export'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { owned, collection, input }) => {
  const data = await startExport(owned.project, collection.name, input.body);
  return respond(route, { success: true, data, message: 'Export started' });
});
