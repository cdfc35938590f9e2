import { respond } from '../../../shared/http/reply.ts';
import { projectWebhookEndpoint } from '../../../shared/http/webhook-endpoint.ts';
import { receiveWebhook } from '../../../shared/mail/events.ts';
import { webhookRoutes } from './routes.ts';

const route = webhookRoutes['receive-project-webhook'];

export const handler = projectWebhookEndpoint(route).handler(async (_event, { delivery }) =>
  respond(route, { success: true, message: await receiveWebhook(delivery) }),
);
