import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listMissingIndexes } from '../../../shared/usage/missing-indexes.ts';
import { dashboardUsageRoutes } from './routes.ts';

const route = dashboardUsageRoutes['list-missing-indexes'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned }) =>
  respond(route, {
    success: true,
    data: await listMissingIndexes(owned.project),
    message: 'Missing indexes fetched',
  }),
);
