import { tryEffects } from '../../../shared/documents/effects/try-effects.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardCollectionRoutes } from './routes.ts';

const route = dashboardCollectionRoutes['try-effects'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { access, input }) => {
  const data = await tryEffects(access, input.body);
  return respond(route, { success: true, data, message: 'Effects tried' });
});
