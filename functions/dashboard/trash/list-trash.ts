import { listTrash } from '../../../shared/documents/store/trash.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardTrashRoutes } from './routes.ts';

const route = dashboardTrashRoutes['list-trash'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { owned, collection, input }) => {
  const data = await listTrash(owned.project, collection, input.query);
  return respond(route, { success: true, data, message: 'Trash fetched' });
});
