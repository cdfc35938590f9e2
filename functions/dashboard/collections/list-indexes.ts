import { listIndexes } from '../../../shared/collections/indexes/custom-indexes.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardCollectionRoutes } from './routes.ts';

const route = dashboardCollectionRoutes['list-indexes'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const page = await listIndexes(owned.project, input.params.collectionName, input.query);
  return respond(route, { success: true, data: page, message: 'Indexes fetched' });
});
