import { projectWriteEndpoint } from '../../../shared/http/project-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { deleteBroadcast } from '../../../shared/mail/audiences.ts';
import { broadcastRoutes } from './routes.ts';

const route = broadcastRoutes['delete-broadcast'];

export const handler = projectWriteEndpoint(route).handler(async (_event, { project, input }) =>
  respond(route, {
    success: true,
    data: await deleteBroadcast(project, input.params.id),
    message: 'Broadcast deleted successfully.',
  }),
);
