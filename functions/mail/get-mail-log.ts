import { projectEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { getMailLog } from '../../shared/mail/log.ts';
import { mailRoutes } from './routes.ts';

const route = mailRoutes['get-mail-log'];

export const handler = projectEndpoint(route).handler(async (_event, { project, input }) => {
  const data = await getMailLog(project, input.params.providerId);
  return respond(route, { success: true, data, message: 'Mail log fetched' });
});
