import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { cancelTransfer } from '../../../shared/transfers/manage.ts';
import { dashboardTransferRoutes } from './routes.ts';

const route = dashboardTransferRoutes['cancel-transfer'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await cancelTransfer(owned.project, input.params.id);
  return respond(route, {
    success: true,
    data,
    message: data.kind === 'export' ? 'Export cancelled' : 'Import cancelled',
  });
});
