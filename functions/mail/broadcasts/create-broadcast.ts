import { projectWriteEndpoint } from '../../../shared/http/project-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { createBroadcast } from '../../../shared/mail/audiences.ts';
import { broadcastRoutes } from './routes.ts';

const route = broadcastRoutes['create-broadcast'];

export const handler = projectWriteEndpoint(route).handler(async (_event, { project, input }) =>
  respond(route, {
    success: true,
    data: await createBroadcast(project, input.body),
    message: 'Broadcast created successfully.',
  }),
);
