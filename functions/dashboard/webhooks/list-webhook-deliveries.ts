import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listWebhookDeliveries } from '../../../shared/webhooks/deliveries.ts';
import { dashboardWebhookRoutes } from './routes.ts';

const route = dashboardWebhookRoutes['list-webhook-deliveries'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await listWebhookDeliveries(owned.project, input.params.webhookId, input.query);
  return respond(route, { success: true, data, message: 'Deliveries fetched' });
});
