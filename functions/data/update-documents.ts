import { updateDocuments } from '../../shared/documents/store/many.ts';
import { dataWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['update-documents'];

export const handler = dataWriteEndpoint(route).handler(async (_event, { access, input }) => {
  const data = await updateDocuments(access, input.body, input.body.changes);
  return respond(route, { success: true, data, message: `${data.changed} documents updated` });
});
