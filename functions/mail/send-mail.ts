import { projectWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { sendMail } from '../../shared/mail/send.ts';
import { mailRoutes } from './routes.ts';

const route = mailRoutes['send-mail'];

export const handler = projectWriteEndpoint(route).handler(async (_event, { project, input }) => {
  const data = await sendMail(project, input.body);
  return respond(route, { success: true, data, message: 'Mail queued successfully.' });
});
