import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { updateMailTemplate } from '../../../shared/mail/templates/templates.ts';
import { dashboardMailRoutes } from './routes.ts';

const route = dashboardMailRoutes['update-mail-template'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await updateMailTemplate(owned.project, input.params.templateId, input.body);
  return respond(route, { success: true, data, message: 'Mail template updated' });
});
