import { requireAccount } from '../../../shared/accounts/account-store.ts';
import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { newSigningKey } from '../../../shared/accounts/tokens.ts';
import { developerEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { createProject } from '../../../shared/projects/create-project.ts';
import { accountHints } from '../../../shared/projects/settings.ts';
import { dashboardProjectRoutes } from './routes.ts';

const route = dashboardProjectRoutes['create-project'];

export const handler = developerEndpoint(route).handler(async (_event, { developer, input }) => {
  const { plan } = await requireAccount(developerAccounts, developer.developerId);
  const project = await createProject({ id: developer.developerId, plan }, input.body, newSigningKey);
  return respond(route, {
    success: true,
    data: { ...project, role: 'owner' },
    message: 'Project created. Its secret key is only shown now.',
    hints: accountHints(input.body, project),
  });
});
