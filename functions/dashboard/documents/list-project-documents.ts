import { listDocuments } from '../../../shared/documents/query/list-documents.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { viewedAs, viewParameter } from '../../../shared/http/middleware/collection.ts';
import { respond } from '../../../shared/http/reply.ts';
import { listMessage } from '../../list-message.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['list-project-documents'];

export const handler = ownedCollectionEndpoint(route).handler(async (event, { access, input }) => {
  const asked = input.queryPairs.filter(([name]) => name !== viewParameter);
  const data = await listDocuments(viewedAs(access, input.query.view_as), asked, event.rawQueryString);
  return respond(route, { success: true, data, message: listMessage(data) });
});
