import { updateDocuments } from '../../../shared/documents/store/many.ts';
import { ownedDocumentsEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['update-project-documents'];

export const handler = ownedDocumentsEndpoint(route).handler(async (_event, { access, input }) => {
  const data = await updateDocuments(access, input.body, input.body.changes);
  return respond(route, { success: true, data, message: `${data.changed} documents updated` });
});
