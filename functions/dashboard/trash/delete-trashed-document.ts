import { deleteTrashedDocument } from '../../../shared/documents/store/trash.ts';
import { ownedDocumentsEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardTrashRoutes } from './routes.ts';

const route = dashboardTrashRoutes['delete-trashed-document'];

export const handler = ownedDocumentsEndpoint(route).handler(async (_event, { access, input }) => {
  const { id } = input.params;
  const message = await deleteTrashedDocument(access, id);
  return respond(route, { success: true, data: { id }, message });
});
