import { projectEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { listMailLogs } from '../../shared/mail/log.ts';
import { mailRoutes } from './routes.ts';

const route = mailRoutes['list-mail-logs'];

export const handler = projectEndpoint(route).handler(async (_event, { project }) => {
  const data = await listMailLogs(project);
  return respond(route, { success: true, data, message: 'Mail logs fetched' });
});
