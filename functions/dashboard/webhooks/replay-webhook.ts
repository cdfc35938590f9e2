import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { replayWebhook } from '../../../shared/webhooks/deliveries.ts';
import { dashboardWebhookRoutes } from './routes.ts';

const route = dashboardWebhookRoutes['replay-webhook'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { webhookId } = input.params;
  await replayWebhook(owned.project, webhookId, input.body);
  return respond(route, { success: true, data: { _id: webhookId }, message: 'The replay is on its way' });
});
