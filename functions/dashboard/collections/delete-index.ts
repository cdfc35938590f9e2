import { deleteIndex } from '../../../shared/collections/indexes/custom-indexes.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardCollectionRoutes } from './routes.ts';

const route = dashboardCollectionRoutes['delete-index'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { collectionName, indexName } = input.params;
  await deleteIndex(owned.project, collectionName, indexName);
  return respond(route, { success: true, data: { name: indexName }, message: 'Index deleted' });
});
