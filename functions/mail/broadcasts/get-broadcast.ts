import { projectEndpoint } from '../../../shared/http/project-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { getBroadcast } from '../../../shared/mail/audiences.ts';
import { broadcastRoutes } from './routes.ts';

const route = broadcastRoutes['get-broadcast'];

export const handler = projectEndpoint(route).handler(async (_event, { project, input }) =>
  respond(route, {
    success: true,
    data: await getBroadcast(project, input.params.id),
    message: 'Broadcast fetched successfully.',
  }),
);
