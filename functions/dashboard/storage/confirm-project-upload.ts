import { confirmUpload } from '../../../shared/files/confirm-upload.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardStorageRoutes } from './routes.ts';

const route = dashboardStorageRoutes['confirm-project-upload'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await confirmUpload(owned.project, input.body.filePath, input.body.size);
  return respond(route, { success: true, data, message: 'Upload confirmed' });
});
