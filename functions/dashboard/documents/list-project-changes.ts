import { listChanges } from '../../../shared/documents/changes/list-changes.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['list-project-changes'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { owned, collection, input }) => {
  const data = await listChanges(owned.project, collection, { kind: 'secret' }, input.query);
  return respond(route, { success: true, data, message: 'Changes fetched' });
});
