import { healthEndpoint, respondHealth } from '../../shared/http/health-endpoint.ts';
import { serviceRoutes } from './routes.ts';

const route = serviceRoutes['get-health'];

export const handler = healthEndpoint(route).handler(async (_event, { health }) => respondHealth(route, await health));
