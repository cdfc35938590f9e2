import { deleteDocument } from '../../../shared/documents/store/write-documents.ts';
import { ownedDocumentsEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { preconditionsOf } from '../../../shared/http/preconditions.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['delete-project-document'];

export const handler = ownedDocumentsEndpoint(route).handler(async (event, { access, input }) => {
  const { params, query } = input;
  const { id } = params;
  const asked = preconditionsOf(event, query.where);
  const { message, revision } = await deleteDocument(access, id, query.permanent, asked);
  return respond(route, { success: true, data: { id }, message }, { revision });
});
