import { restoreDocument } from '../../shared/documents/trash/restore-document.ts';
import { dataWriteEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['restore-document'];

export const handler = dataWriteEndpoint(route).handler(async (_event, { project, collection, caller, input }) => {
  const data = await restoreDocument(project, collection, caller, input.params.id);
  return respond(route, { success: true, data, message: 'Document recovered' });
});
