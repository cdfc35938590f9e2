import { updateDocument } from '../../shared/documents/write/update-document.ts';
import { dataWriteEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['update-document'];

export const handler = dataWriteEndpoint(route).handler(async (_event, { project, collection, caller, input }) => {
  const data = await updateDocument(project, collection, caller, input.params.id, input.body);
  return respond(route, { success: true, message: 'Updated', data });
});
