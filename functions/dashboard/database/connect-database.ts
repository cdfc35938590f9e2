import { connectDatabase } from '../../../shared/customer-database/connect.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDatabaseRoutes } from './routes.ts';

const route = dashboardDatabaseRoutes['connect-database'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) =>
  respond(route, {
    success: true,
    data: { ...(await connectDatabase(owned, input.body.uri)), role: owned.role },
    message:
      'Database connected. Documents are read and written there from now on, within 5 seconds everywhere; none were copied.',
  }),
);
