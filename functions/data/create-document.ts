import { createDocument } from '../../shared/documents/store/insert.ts';
import { dataWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['create-document'];

export const handler = dataWriteEndpoint(route).handler(async (_event, { access, input }) => {
  const { document, revision } = await createDocument(access, input.body);
  return respond(route, document, { revision });
});
