import { listChanges } from '../../../shared/documents/store/changes.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['list-project-changes'];

export const handler = ownedCollectionEndpoint(route).handler(async (event, { access, input }) => {
  const data = await listChanges(access, input.query, event.rawQueryString);
  return respond(route, { success: true, data, message: 'Changes fetched' });
});
