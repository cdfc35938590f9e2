import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { getUsage } from '../../../shared/usage/plan-usage.ts';
import { dashboardUsageRoutes } from './routes.ts';

const route = dashboardUsageRoutes['get-usage'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned }) =>
  respond(route, { success: true, data: { ...(await getUsage(owned.project)) }, message: 'Usage fetched' }),
);
