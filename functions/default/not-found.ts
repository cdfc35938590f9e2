import { unknownRouteEndpoint } from '../../shared/http/endpoint.ts';
import { defaultRoutes } from './routes.ts';

export const handler = unknownRouteEndpoint(defaultRoutes['not-found']);
