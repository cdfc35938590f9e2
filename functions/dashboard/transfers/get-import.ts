import { ownedCollectionEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { getImport } from '../../../shared/transfers/manage.ts';
import { dashboardTransferRoutes } from './routes.ts';

const route = dashboardTransferRoutes['get-import'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { owned, collection, input }) => {
  const data = await getImport(owned.project, collection.name, input.params.id);
  return respond(route, { success: true, data, message: 'Import fetched' });
});
