import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { deleteWebhook } from '../../../shared/webhooks/manage.ts';
import { dashboardWebhookRoutes } from './routes.ts';

const route = dashboardWebhookRoutes['delete-webhook'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { webhookId } = input.params;
  await deleteWebhook(owned.project, webhookId);
  return respond(route, { success: true, data: { _id: webhookId }, message: 'Webhook deleted' });
});
