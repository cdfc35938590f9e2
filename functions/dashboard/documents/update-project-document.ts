import { updateDocument } from '../../../shared/documents/write/update-document.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['update-project-document'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { owned, collection, input }) => {
  const data = await updateDocument(owned.project, collection, { kind: 'secret' }, input.params.id, input.body);
  return respond(route, { success: true, data, message: 'Updated' });
});
