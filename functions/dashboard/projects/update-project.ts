import { checkDirectory, indexDirectory } from '../../../shared/accounts/users/directory.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { updateProject } from '../../../shared/projects/change-project.ts';
import { accountHints } from '../../../shared/projects/settings.ts';
import { dashboardProjectRoutes } from './routes.ts';

const route = dashboardProjectRoutes['update-project'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { directory } = input.body;
  if (directory) await checkDirectory(owned.project, directory);
  const project = await updateProject(owned, input.body);
  if (directory !== undefined) await indexDirectory(owned.project, directory);
  return respond(route, {
    success: true,
    data: { ...project, role: owned.role },
    message: 'Project updated',
    hints: accountHints(input.body, project),
  });
});
