import { createIndex } from '../../../shared/collections/indexes/custom-indexes.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardCollectionRoutes } from './routes.ts';

const route = dashboardCollectionRoutes['create-index'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const index = await createIndex(owned.project, input.params.collectionName, input.body);
  return respond(route, { success: true, data: index, message: 'Index created' });
});
