import { createDocuments } from '../../shared/documents/store/insert.ts';
import { dataWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['create-documents'];

export const handler = dataWriteEndpoint(route).handler(async (_event, { access, input }) => {
  const data = await createDocuments(access, input.body);
  return respond(route, { success: true, data, message: `${data.insertedCount} documents inserted` });
});
