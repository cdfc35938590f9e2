import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { createWebhook } from '../../../shared/webhooks/manage.ts';
import { dashboardWebhookRoutes } from './routes.ts';

const route = dashboardWebhookRoutes['create-webhook'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, developer, input }) => {
  const data = await createWebhook(owned.project, input.body, developer.personalToken);
  return respond(route, { success: true, data, message: 'Webhook created. Keep its secret: it is not shown again.' });
});
