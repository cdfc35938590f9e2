import { projectWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { sendBatch } from '../../shared/mail/send-batch.ts';
import { mailRoutes } from './routes.ts';

const route = mailRoutes['send-batch'];

export const handler = projectWriteEndpoint(route).handler(async (_event, { project, input }) => {
  const data = await sendBatch(project, input.body);
  const sent = data.filter((item) => 'id' in item).length;
  return respond(route, { success: true, data, message: `${sent} of ${data.length} emails sent.` });
});
