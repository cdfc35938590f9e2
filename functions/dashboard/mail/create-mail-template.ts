import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { createMailTemplate } from '../../../shared/mail/templates/templates.ts';
import { dashboardMailRoutes } from './routes.ts';

const route = dashboardMailRoutes['create-mail-template'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await createMailTemplate(owned.project, input.body);
  return respond(route, { success: true, data, message: 'Mail template created' });
});
