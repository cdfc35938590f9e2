import { getDeveloper } from '../../../shared/accounts/developers/find-developer.ts';
import { developerEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listProjects } from '../../../shared/projects/list-projects.ts';
import { dashboardProjectRoutes } from './routes.ts';

const route = dashboardProjectRoutes['list-projects'];

export const handler = developerEndpoint(route).handler(async (_event, { developer, input }) => {
  const { _id } = await getDeveloper(developer.developerId);
  const page = await listProjects(_id, input.query, developer.personalToken?.projectIds);
  return respond(route, { success: true, data: page, message: 'Projects fetched' });
});
