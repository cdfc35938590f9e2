import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { deleteSuppression } from '../../../shared/mail/suppressions.ts';
import { dashboardMailRoutes } from './routes.ts';

const route = dashboardMailRoutes['delete-suppression'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { email } = input.params;
  await deleteSuppression(owned.project, email);
  return respond(route, { success: true, data: { email }, message: 'Suppression removed' });
});
