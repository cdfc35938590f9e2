import { restoreDocument } from '../../../shared/documents/trash/restore-document.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardTrashRoutes } from './routes.ts';

const route = dashboardTrashRoutes['restore-project-document'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { owned, collection, input }) => {
  const data = await restoreDocument(owned.project, collection, { kind: 'secret' }, input.params.id);
  return respond(route, { success: true, data, message: 'Document recovered' });
});
