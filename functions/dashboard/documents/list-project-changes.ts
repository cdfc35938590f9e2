import { listChanges } from '../../../shared/documents/store/changes.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['list-project-changes'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { visit, input }) => {
  const data = await listChanges(visit, input.query);
  return respond(route, { success: true, data, message: 'Changes fetched' });
});
