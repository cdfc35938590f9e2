import { deleteDocument } from '../../../shared/documents/trash/delete-document.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['delete-project-document'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { owned, collection, input }) => {
  const { id } = input.params;
  const message = await deleteDocument(owned.project, collection, { kind: 'secret' }, id, input.query.permanent);
  return respond(route, { success: true, data: { id }, message });
});
