import { ownedProjectEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dayStats } from '../../../shared/insight/usage/request-stats.ts';
import { dashboardUsageRoutes } from './routes.ts';

const route = dashboardUsageRoutes['get-requests'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { day, requests, routes } = await dayStats(owned.project.id, input.query.day);
  return respond(route, {
    success: true,
    data: { day, requests, routes: routes.map((stats) => ({ ...stats })) },
    message: 'Requests fetched',
  });
});
