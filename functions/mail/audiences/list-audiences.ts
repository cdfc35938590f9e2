import { projectEndpoint } from '../../../shared/http/project-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listAudiences } from '../../../shared/mail/audiences.ts';
import { audienceRoutes } from './routes.ts';

const route = audienceRoutes['list-audiences'];

export const handler = projectEndpoint(route).handler(async (_event, { project, input }) =>
  respond(route, {
    success: true,
    data: await listAudiences(project, input.query),
    message: 'Audiences fetched successfully.',
  }),
);
