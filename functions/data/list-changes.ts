import { listChanges } from '../../shared/documents/store/changes.ts';
import { waitingDataEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['list-changes'];

export const handler = waitingDataEndpoint(route).handler(async (event, { access, input }) => {
  const data = await listChanges(access, input.query, event.rawQueryString);
  return respond(route, { success: true, data, message: 'Changes fetched' });
});
