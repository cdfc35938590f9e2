import { ownedCollectionEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { startUploadedImport } from '../../../shared/transfers/import.ts';
import { dashboardTransferRoutes } from './routes.ts';

const route = dashboardTransferRoutes['start-uploaded-import'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { owned, collection, input }) => {
  const data = await startUploadedImport(owned.project, collection.name, input.params.id);
  return respond(route, { success: true, data, message: 'Import started' });
});
