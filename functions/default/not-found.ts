import { unknownRouteEndpoint } from '../../shared/http/not-found.ts';
import { defaultRoutes } from './routes.ts';

export const handler = unknownRouteEndpoint(defaultRoutes['not-found']);
