import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listWebhooks } from '../../../shared/webhooks/manage.ts';
import { dashboardWebhookRoutes } from './routes.ts';

const route = dashboardWebhookRoutes['list-webhooks'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await listWebhooks(owned.project, input.query);
  return respond(route, { success: true, data, message: 'Webhooks fetched' });
});
