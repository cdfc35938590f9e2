import { deleteDocuments } from '../../shared/documents/store/many.ts';
import { dataWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['delete-documents'];

export const handler = dataWriteEndpoint(route).handler(async (_event, { access, input }) => {
  const data = await deleteDocuments(access, input.body, input.body.permanent);
  return respond(route, { success: true, data, message: `${data.changed} documents deleted` });
});
