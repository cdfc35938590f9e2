import { requireAccount } from '../../../shared/accounts/account-store.ts';
import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { developerEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listProjects } from '../../../shared/projects/project-view.ts';
import { dashboardProjectRoutes } from './routes.ts';

const route = dashboardProjectRoutes['list-projects'];

export const handler = developerEndpoint(route).handler(async (_event, { developer, input }) => {
  const { _id } = await requireAccount(developerAccounts, developer.developerId);
  const page = await listProjects(_id.toHexString(), input.query, developer.personalToken?.projectIds);
  return respond(route, { success: true, data: page, message: 'Projects fetched' });
});
