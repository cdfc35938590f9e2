import { listFiles } from '../../../shared/files/list-files.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardStorageRoutes } from './routes.ts';

const route = dashboardStorageRoutes['list-files'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const page = await listFiles(owned.project, input.query);
  return respond(route, { success: true, data: page, message: 'Files fetched' });
});
