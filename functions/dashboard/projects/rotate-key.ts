import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { rotateKey } from '../../../shared/projects/keys.ts';
import { dashboardProjectRoutes } from './routes.ts';

const route = dashboardProjectRoutes['rotate-key'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const key = await rotateKey(owned, input.body.type, input.body.graceHours);
  return respond(route, { success: true, data: key, message: 'Key rotated. The new key is only shown now.' });
});
