import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { testWebhook } from '../../../shared/webhooks/deliveries.ts';
import { dashboardWebhookRoutes } from './routes.ts';

const route = dashboardWebhookRoutes['test-webhook'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await testWebhook(owned.project, input.params.webhookId);
  return respond(route, { success: true, data, message: 'The test is on its way' });
});
