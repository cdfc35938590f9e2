import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listSuppressions } from '../../../shared/mail/suppressions.ts';
import { dashboardMailRoutes } from './routes.ts';

const route = dashboardMailRoutes['list-suppressions'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await listSuppressions(owned.project, input.query);
  return respond(route, { success: true, data, message: 'Suppressions fetched' });
});
