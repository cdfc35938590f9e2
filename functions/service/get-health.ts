import { healthEndpoint } from '../../shared/http/endpoint.ts';
import { respondHealth } from '../../shared/http/reply.ts';
import { serviceRoutes } from './routes.ts';

const route = serviceRoutes['get-health'];

export const handler = healthEndpoint(route).handler(async (_event, { health }) => respondHealth(route, await health));
