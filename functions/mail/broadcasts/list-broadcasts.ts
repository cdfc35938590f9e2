import { projectEndpoint } from '../../../shared/http/project-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listBroadcasts } from '../../../shared/mail/audiences.ts';
import { broadcastRoutes } from './routes.ts';

const route = broadcastRoutes['list-broadcasts'];

export const handler = projectEndpoint(route).handler(async (_event, { project, input }) =>
  respond(route, {
    success: true,
    data: await listBroadcasts(project, input.query),
    message: 'Broadcasts fetched successfully.',
  }),
);
