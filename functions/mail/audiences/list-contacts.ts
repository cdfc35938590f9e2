import { projectEndpoint } from '../../../shared/http/project-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listContacts } from '../../../shared/mail/audiences.ts';
import { audienceRoutes } from './routes.ts';

const route = audienceRoutes['list-contacts'];

export const handler = projectEndpoint(route).handler(async (_event, { project, input }) =>
  respond(route, {
    success: true,
    data: await listContacts(project, input.params.audienceId, input.query),
    message: 'Contacts fetched successfully.',
  }),
);
