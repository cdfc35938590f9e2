import { endReservation } from '../../../shared/files/delete-files.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardStorageRoutes } from './routes.ts';

const route = dashboardStorageRoutes['end-reservation'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  await endReservation(owned.project, input.body.path);
  return respond(route, { success: true, data: {}, message: 'Upload ended' });
});
