import { serverAddresses } from '../../../shared/customer-database/verification.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDatabaseRoutes } from './routes.ts';

const route = dashboardDatabaseRoutes['get-database'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned: { project } }) => {
  const { placement } = project;
  const place = placement.kind === 'external' ? { external: true, host: placement.host } : { external: false };
  return respond(route, {
    success: true,
    data: { ...place, serverIps: serverAddresses() },
    message: 'Database fetched',
  });
});
