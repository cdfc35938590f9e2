import { listDocuments } from '../../../shared/documents/query/list-documents.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listMessage } from '../../list-message.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['list-project-documents'];

export const handler = ownedCollectionEndpoint(route).handler(async (event, { access, input }) => {
  const data = await listDocuments(access, input.queryPairs, event.rawQueryString);
  return respond(route, { success: true, data, message: listMessage(data) });
});
