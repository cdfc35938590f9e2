import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { deleteProject } from '../../../shared/projects/change-project.ts';
import { dashboardProjectRoutes } from './routes.ts';

const route = dashboardProjectRoutes['delete-project'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned }) => {
  await deleteProject(owned);
  return respond(route, { success: true, data: { _id: owned.project.id }, message: 'Project is being deleted' });
});
