import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { rotateWebhookSecret } from '../../../shared/webhooks/manage.ts';
import { dashboardWebhookRoutes } from './routes.ts';

const route = dashboardWebhookRoutes['rotate-webhook-secret'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await rotateWebhookSecret(owned.project, input.params.webhookId);
  return respond(route, { success: true, data, message: 'Secret rotated. For 24 hours the old one signs too.' });
});
