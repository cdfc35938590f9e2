import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { getMailTemplate } from '../../../shared/mail/templates/templates.ts';
import { dashboardMailRoutes } from './routes.ts';

const route = dashboardMailRoutes['get-mail-template'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await getMailTemplate(owned.project, input.params.templateId);
  return respond(route, { success: true, data, message: 'Mail template fetched' });
});
