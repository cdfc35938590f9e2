import { deleteCollection } from '../../../shared/collections/delete-collection.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardCollectionRoutes } from './routes.ts';

const route = dashboardCollectionRoutes['delete-collection'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const name = input.params.collectionName;
  await deleteCollection(owned.project, name);
  return respond(route, { success: true, data: { name }, message: 'Collection deleted' });
});
