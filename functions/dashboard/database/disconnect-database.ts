import { disconnectDatabase } from '../../../shared/customer-database/connect.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDatabaseRoutes } from './routes.ts';

const route = dashboardDatabaseRoutes['disconnect-database'];

const done =
  'No database of your own is connected. Documents are in the database of the service; none were copied back.';

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned }) => {
  const { view, unfit } = await disconnectDatabase(owned);
  const names = unfit.map((name) => `"${name}"`).join(', ');
  const warning = unfit.length > 0 ? ` Documents there do not fit the schema of ${names}: edit it to see which.` : '';
  return respond(route, { success: true, data: { ...view, role: owned.role }, message: done + warning });
});
