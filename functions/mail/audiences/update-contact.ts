import { projectWriteEndpoint } from '../../../shared/http/project-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { updateContact } from '../../../shared/mail/audiences.ts';
import { audienceRoutes } from './routes.ts';

const route = audienceRoutes['update-contact'];

export const handler = projectWriteEndpoint(route).handler(async (_event, { project, input }) =>
  respond(route, {
    success: true,
    data: await updateContact(project, input.params.audienceId, input.params.contactId, input.body),
    message: 'Contact updated successfully.',
  }),
);
