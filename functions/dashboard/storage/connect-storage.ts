import { bucketCors, connectStorage } from '../../../shared/files/connect-storage.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardStorageRoutes } from './routes.ts';

const route = dashboardStorageRoutes['connect-storage'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const project = await connectStorage(owned, input.body);
  const data = { ...project, role: owned.role, cors: bucketCors };
  return respond(route, { success: true, data, message: 'Storage connected' });
});
