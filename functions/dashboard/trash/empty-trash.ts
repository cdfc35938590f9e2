import { emptyTrash } from '../../../shared/documents/store/empty-trash.ts';
import { ownedDocumentsEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardTrashRoutes } from './routes.ts';

const route = dashboardTrashRoutes['empty-trash'];

export const handler = ownedDocumentsEndpoint(route).handler(async (_event, { owned, collection }) => {
  const data = await emptyTrash(owned.project, collection);
  const message = data.complete ? 'Trash emptied' : 'The trash is being emptied in the background';
  return respond(route, { success: true, data, message });
});
