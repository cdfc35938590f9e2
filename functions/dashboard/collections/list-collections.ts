import { listCollections } from '../../../shared/collections/find-collections.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardCollectionRoutes } from './routes.ts';

const route = dashboardCollectionRoutes['list-collections'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const page = await listCollections(owned.project, input.query);
  return respond(route, { success: true, data: page, message: 'Collections fetched' });
});
