import { projectWriteEndpoint } from '../../../shared/http/project-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { deleteContact } from '../../../shared/mail/audiences.ts';
import { audienceRoutes } from './routes.ts';

const route = audienceRoutes['delete-contact'];

export const handler = projectWriteEndpoint(route).handler(async (_event, { project, input }) =>
  respond(route, {
    success: true,
    data: await deleteContact(project, input.params.audienceId, input.params.contactId),
    message: 'Contact deleted successfully.',
  }),
);
