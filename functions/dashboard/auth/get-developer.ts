import { getDeveloper } from '../../../shared/accounts/developers/find-developer.ts';
import { developerEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['get-developer'];

export const handler = developerEndpoint(route).handler(async (_event, { developer }) =>
  respond(route, {
    success: true,
    data: await getDeveloper(developer.developerId),
    message: 'Developer fetched successfully',
  }),
);
