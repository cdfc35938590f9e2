import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { listAuditEntries } from '../../../shared/members/audit.ts';
import { dashboardAuditRoutes } from './routes.ts';

const route = dashboardAuditRoutes['list-audit-entries'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await listAuditEntries(owned.project, input.query);
  return respondExactly(route, { success: true, data, message: 'Changes fetched' });
});
