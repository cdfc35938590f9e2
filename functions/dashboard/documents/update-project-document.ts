import { updateDocument } from '../../../shared/documents/store/update.ts';
import { ownedDocumentsEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { preconditionsOf } from '../../../shared/http/preconditions.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['update-project-document'];

export const handler = ownedDocumentsEndpoint(route).handler(async (event, { access, input }) => {
  const { params, body } = input;
  const updated = await updateDocument(access, params.id, body, preconditionsOf(event, input.query.where));
  const { document, revision } = updated;
  return respond(route, { success: true, data: document, message: 'Updated' }, { revision });
});
