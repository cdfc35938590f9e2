import { healthEndpoint, respondHealth } from '../../../shared/http/health-endpoint.ts';
import { dashboardServiceRoutes } from './routes.ts';

const route = dashboardServiceRoutes['get-dashboard-health'];

export const handler = healthEndpoint(route).handler(async (_event, { health }) => respondHealth(route, await health));
