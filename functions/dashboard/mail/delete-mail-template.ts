import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { deleteMailTemplate } from '../../../shared/mail/templates/templates.ts';
import { dashboardMailRoutes } from './routes.ts';

const route = dashboardMailRoutes['delete-mail-template'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { templateId } = input.params;
  await deleteMailTemplate(owned.project, templateId);
  return respond(route, { success: true, data: { _id: templateId }, message: 'Mail template deleted' });
});
