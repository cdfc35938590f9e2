import { requireAccount } from '../../../shared/accounts/account-store.ts';
import { developerAccounts, toDeveloper } from '../../../shared/accounts/developers/developers.ts';
import { developerEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['get-developer'];

export const handler = developerEndpoint(route).handler(async (_event, { developer }) =>
  respond(route, {
    success: true,
    data: toDeveloper(await requireAccount(developerAccounts, developer.developerId)),
    message: 'Developer fetched successfully',
  }),
);
