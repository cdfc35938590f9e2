import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { toProjectView } from '../../../shared/projects/project-view.ts';
import { dashboardProjectRoutes } from './routes.ts';

const route = dashboardProjectRoutes['get-project'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned }) =>
  respond(route, {
    success: true,
    data: { ...toProjectView(owned.record, owned.project.plan), role: owned.role },
    message: 'Project fetched',
  }),
);
