import { changeVisibility } from '../../../shared/files/move-file.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardStorageRoutes } from './routes.ts';

const route = dashboardStorageRoutes['change-project-visibility'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await changeVisibility(owned.project, input.body.path, input.body.visibility);
  return respond(route, { success: true, data, message: `The file is ${data.visibility}` });
});
