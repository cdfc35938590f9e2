import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { getRequestDays, getRequestStats } from '../../../shared/usage/requests.ts';
import { dashboardUsageRoutes } from './routes.ts';

const route = dashboardUsageRoutes['get-request-stats'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { id } = owned.project;
  const [stats, days] = await Promise.all([
    getRequestStats(id, input.query.day, input.query.hours !== undefined),
    input.query.days === undefined ? undefined : getRequestDays(id, input.query.days, input.query.day),
  ]);
  return respond(route, { success: true, data: { ...stats, ...(days && { days }) }, message: 'Requests fetched' });
});
