import { getCollection } from '../../../shared/collections/find-collections.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardCollectionRoutes } from './routes.ts';

const route = dashboardCollectionRoutes['get-collection'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const collection = await getCollection(owned.project, input.params.collectionName);
  return respond(route, { success: true, data: collection, message: 'Collection fetched' });
});
