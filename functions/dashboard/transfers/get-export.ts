import { ownedCollectionEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { getExport } from '../../../shared/transfers/manage.ts';
import { dashboardTransferRoutes } from './routes.ts';

const route = dashboardTransferRoutes['get-export'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { owned, collection, input }) => {
  const data = await getExport(owned.project, collection.name, input.params.id);
  return respond(route, { success: true, data, message: 'Export fetched' });
});
