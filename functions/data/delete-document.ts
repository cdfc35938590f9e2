import { removeDocument } from '../../shared/documents/trash/remove-document.ts';
import { trashDocument } from '../../shared/documents/trash/trash-document.ts';
import { dataEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['delete-document'];

export const handler = dataEndpoint(route).handler(async (_event, { project, collection, caller, input }) => {
  const { id } = input.params;
  if (input.query.permanent) {
    await removeDocument(project, collection, caller, id);
    return respond(route, { success: true, data: { id }, message: 'Document permanently deleted' });
  }
  await trashDocument(project, collection, caller, id);
  return respond(route, { success: true, data: { id }, message: 'Document moved to trash' });
});
