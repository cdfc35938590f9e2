import { getSchema } from '../../shared/collections/find-collections.ts';
import { projectEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['get-schema'];

export const handler = projectEndpoint(route).handler(async (_event, { namedCollection, keyKind, input }) => {
  const collection = getSchema(input.params.collectionName, namedCollection, keyKind);
  return respond(route, { success: true, data: { collection } });
});
