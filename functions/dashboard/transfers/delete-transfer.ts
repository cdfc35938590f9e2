import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { deleteTransfer } from '../../../shared/transfers/manage.ts';
import { dashboardTransferRoutes } from './routes.ts';

const route = dashboardTransferRoutes['delete-transfer'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await deleteTransfer(owned.project, input.params.id);
  return respond(route, { success: true, data, message: 'Export or import deleted' });
});
