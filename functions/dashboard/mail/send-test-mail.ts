import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { sendTestMail } from '../../../shared/mail/send.ts';
import { dashboardMailRoutes } from './routes.ts';

const route = dashboardMailRoutes['send-test-mail'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await sendTestMail(owned.project, input.params.templateId, input.body);
  return respond(route, { success: true, data, message: 'Mail queued successfully.' });
});
