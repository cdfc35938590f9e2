import { ownedCollectionEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { startImport } from '../../../shared/transfers/import.ts';
import { dashboardTransferRoutes } from './routes.ts';

const route = dashboardTransferRoutes['start-import'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { owned, collection, input }) => {
  const data = await startImport(owned.project, collection.name, input.body);
  return respond(route, { success: true, data, message: 'Import accepted' });
});
