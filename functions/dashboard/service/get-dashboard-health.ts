import { healthEndpoint } from '../../../shared/http/endpoint.ts';
import { respondHealth } from '../../../shared/http/reply.ts';
import { dashboardServiceRoutes } from './routes.ts';

const route = dashboardServiceRoutes['get-dashboard-health'];

export const handler = healthEndpoint(route).handler(async (_event, { health }) => respondHealth(route, await health));
