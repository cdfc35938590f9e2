import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listMailLogs } from '../../../shared/mail/log.ts';
import { dashboardMailRoutes } from './routes.ts';

const route = dashboardMailRoutes['list-project-mail-logs'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned }) => {
  const data = await listMailLogs(owned.project);
  return respond(route, { success: true, data, message: 'Mail logs fetched' });
});
