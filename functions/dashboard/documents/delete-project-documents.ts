import { deleteDocuments } from '../../../shared/documents/store/many.ts';
import { ownedDocumentsEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['delete-project-documents'];

export const handler = ownedDocumentsEndpoint(route).handler(async (_event, { access, input }) => {
  const data = await deleteDocuments(access, input.body, input.body.permanent);
  return respond(route, { success: true, data, message: `${data.changed} documents deleted` });
});
