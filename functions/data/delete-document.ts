import { deleteDocument } from '../../shared/documents/trash/delete-document.ts';
import { dataWriteEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['delete-document'];

export const handler = dataWriteEndpoint(route).handler(async (_event, { project, collection, caller, input }) => {
  const { id } = input.params;
  const message = await deleteDocument(project, collection, caller, id, input.query.permanent);
  return respond(route, { success: true, data: { id }, message });
});
