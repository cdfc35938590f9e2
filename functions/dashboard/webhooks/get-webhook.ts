import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { getWebhook } from '../../../shared/webhooks/manage.ts';
import { dashboardWebhookRoutes } from './routes.ts';

const route = dashboardWebhookRoutes['get-webhook'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await getWebhook(owned.project, input.params.webhookId);
  return respond(route, { success: true, data, message: 'Webhook fetched' });
});
