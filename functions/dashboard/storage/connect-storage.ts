import { ownedProjectEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { connectStorage } from '../../../shared/storage/connect-storage.ts';
import { dashboardStorageRoutes } from './routes.ts';

const route = dashboardStorageRoutes['connect-storage'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const project = await connectStorage(owned, input.body);
  return respond(route, { success: true, data: { ...project, role: owned.role }, message: 'Storage connected' });
});
