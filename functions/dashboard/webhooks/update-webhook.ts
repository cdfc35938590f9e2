import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { updateWebhook } from '../../../shared/webhooks/manage.ts';
import { dashboardWebhookRoutes } from './routes.ts';

const route = dashboardWebhookRoutes['update-webhook'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, developer, input }) => {
  const data = await updateWebhook(owned.project, input.params.webhookId, input.body, developer.personalToken);
  return respond(route, { success: true, data, message: 'Webhook updated' });
});
