import { tryRules } from '../../../shared/documents/access/try-rules.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardCollectionRoutes } from './routes.ts';

const route = dashboardCollectionRoutes['try-rules'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { access, input }) => {
  const data = await tryRules(access, input.body);
  return respond(route, { success: true, data, message: 'Rules tried' });
});
