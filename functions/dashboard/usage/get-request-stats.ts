import { ownedProjectEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { getRequestStats } from '../../../shared/insight/usage/request-stats.ts';
import { dashboardUsageRoutes } from './routes.ts';

const route = dashboardUsageRoutes['get-request-stats'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { day, requests, routes } = await getRequestStats(owned.project.id, input.query.day);
  return respond(route, {
    success: true,
    data: { day, requests, routes: routes.map((stats) => ({ ...stats })) },
    message: 'Requests fetched',
  });
});
