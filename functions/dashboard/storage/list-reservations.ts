import { listReservations } from '../../../shared/files/list-files.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardStorageRoutes } from './routes.ts';

const route = dashboardStorageRoutes['list-reservations'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await listReservations(owned.project, input.query);
  return respond(route, { success: true, data, message: 'Open uploads fetched' });
});
