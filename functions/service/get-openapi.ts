import { serviceSettings } from '../../shared/core/config.ts';
import { publicEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { publicDocument } from '../public-api.ts';
import { serviceRoutes } from './routes.ts';

const route = serviceRoutes['get-openapi'];

export const handler = publicEndpoint(route).handler(async () => {
  const servers = [{ url: serviceSettings().PUBLIC_URL }];
  return respond(route, { ...publicDocument(), servers }, { maxAgeSeconds: 300 });
});
