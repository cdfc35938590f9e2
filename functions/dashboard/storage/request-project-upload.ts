import { requestUpload } from '../../../shared/files/request-upload.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardStorageRoutes } from './routes.ts';

const route = dashboardStorageRoutes['request-project-upload'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) =>
  respond(route, { success: true, data: await requestUpload(owned.project, input.body), message: 'Upload requested' }),
);
