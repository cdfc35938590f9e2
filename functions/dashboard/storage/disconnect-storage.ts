import { disconnectStorage } from '../../../shared/files/connect-storage.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardStorageRoutes } from './routes.ts';

const route = dashboardStorageRoutes['disconnect-storage'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned }) => {
  const project = await disconnectStorage(owned);
  return respond(route, { success: true, data: { ...project, role: owned.role }, message: 'Storage disconnected' });
});
