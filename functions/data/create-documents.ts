import { createDocuments } from '../../shared/documents/store/insert.ts';
import { dataWriteEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['create-documents'];

export const handler = dataWriteEndpoint(route).handler(async (_event, { visit, input }) => {
  const data = await createDocuments(visit, input.body);
  return respond(route, { success: true, data, message: `${data.insertedCount} documents inserted` });
});
