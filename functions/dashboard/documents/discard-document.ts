import { removeDocument } from '../../../shared/documents/trash/remove-document.ts';
import { trashDocument } from '../../../shared/documents/trash/trash-document.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['discard-document'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { owned, collection, input }) => {
  const { id } = input.params;
  if (input.query.permanent) {
    await removeDocument(owned.project, collection, { kind: 'secret' }, id);
    return respond(route, { success: true, data: { id }, message: 'Document permanently deleted' });
  }
  await trashDocument(owned.project, collection, { kind: 'secret' }, id);
  return respond(route, { success: true, data: { id }, message: 'Document moved to trash' });
});
