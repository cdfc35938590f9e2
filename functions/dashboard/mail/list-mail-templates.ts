import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listMailTemplates } from '../../../shared/mail/templates/templates.ts';
import { dashboardMailRoutes } from './routes.ts';

const route = dashboardMailRoutes['list-mail-templates'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await listMailTemplates(owned.project, input.query);
  return respond(route, { success: true, data, message: 'Mail templates fetched' });
});
