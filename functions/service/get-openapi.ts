import { serviceSettings } from '../../shared/core/config.ts';
import { publicEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import type { LambdaHandler } from '../../shared/http/stack.ts';
import { publicDocument } from '../public-api.ts';
import { serviceRoutes } from './routes.ts';

const route = serviceRoutes['get-openapi'];

const describe = publicEndpoint(route).handler(async () => {
  const servers = [{ url: serviceSettings().PUBLIC_URL }];
  const reply = respond(route, { ...publicDocument(), servers }, { maxAgeSeconds: 300 });
  return { ...reply, headers: { ...reply.headers, vary: 'x-api-key' } };
});

/** Most requests have no key, so the database driver is only loaded with one. */
export const handler: LambdaHandler = async (event, context) => {
  if (event.headers['x-api-key'] === undefined) return describe(event, context);
  const { describeProject } = await import('../project-api.ts');
  return describeProject(event, context);
};
