import { recoverDocument } from '../../shared/documents/trash/recover-document.ts';
import { dataEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['recover-document'];

export const handler = dataEndpoint(route).handler(async (_event, { project, collection, caller, input }) => {
  const data = await recoverDocument(project, collection, caller, input.params.id);
  return respond(route, { success: true, data, message: 'Document recovered' });
});
