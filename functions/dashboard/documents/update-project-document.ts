import { updateDocument } from '../../../shared/documents/store/write-documents.ts';
import { ownedDocumentsEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { preconditionsOf } from '../../../shared/http/preconditions.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['update-project-document'];

export const handler = ownedDocumentsEndpoint(route).handler(async (event, { access, input }) => {
  const { params, body } = input;
  const asked = preconditionsOf(event, input.query.where);
  const { document, revision } = await updateDocument(access, params.id, body, asked);
  return respond(route, { success: true, data: document, message: 'Updated' }, { revision });
});
