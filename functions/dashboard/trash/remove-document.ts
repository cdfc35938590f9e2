import { removeFromTrash } from '../../../shared/documents/trash/remove-from-trash.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardTrashRoutes } from './routes.ts';

const route = dashboardTrashRoutes['remove-document'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { owned, collection, input }) => {
  const { id } = input.params;
  await removeFromTrash(owned.project, collection, id);
  return respond(route, { success: true, data: { id }, message: 'Document permanently deleted' });
});
