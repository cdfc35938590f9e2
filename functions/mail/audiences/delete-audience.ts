import { projectWriteEndpoint } from '../../../shared/http/project-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { deleteAudience } from '../../../shared/mail/audiences.ts';
import { audienceRoutes } from './routes.ts';

const route = audienceRoutes['delete-audience'];

export const handler = projectWriteEndpoint(route).handler(async (_event, { project, input }) =>
  respond(route, {
    success: true,
    data: await deleteAudience(project, input.params.audienceId),
    message: 'Audience deleted successfully.',
  }),
);
