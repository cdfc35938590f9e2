import { projectWriteEndpoint } from '../../../shared/http/project-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { createContact } from '../../../shared/mail/audiences.ts';
import { audienceRoutes } from './routes.ts';

const route = audienceRoutes['create-contact'];

export const handler = projectWriteEndpoint(route).handler(async (_event, { project, input }) =>
  respond(route, {
    success: true,
    data: await createContact(project, input.params.audienceId, input.body),
    message: 'Contact created successfully.',
  }),
);
