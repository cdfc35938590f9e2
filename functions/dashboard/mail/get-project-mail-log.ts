import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { getMailLog } from '../../../shared/mail/log.ts';
import { dashboardMailRoutes } from './routes.ts';

const route = dashboardMailRoutes['get-project-mail-log'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await getMailLog(owned.project, input.params.providerId);
  return respond(route, { success: true, data, message: 'Mail log fetched' });
});
