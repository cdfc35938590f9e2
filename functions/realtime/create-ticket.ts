import { createTicket } from '../../shared/documents/store/publish.ts';
import { namedCollections } from '../../shared/http/middleware/collection.ts';
import { readerOf } from '../../shared/http/middleware/user-token.ts';
import { projectEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { realtimeRoutes } from './routes.ts';

const route = realtimeRoutes['create-ticket'];

export const handler = projectEndpoint(route).handler(async ({ headers }, { project, keyKind, input }) => {
  const collections = await namedCollections(project, input.body.collections);
  const data = await createTicket(project, collections, await readerOf({ project, keyKind }, headers));
  if (data.ticket === null) {
    const none = { ...route, response: { ...route.response, status: 200 } };
    return respond(none, { success: true, data, message: 'No live updates here: ask for the changes' });
  }
  return respond(route, { success: true, data, message: 'Ticket issued' });
});
