import { updateDocument } from '../../../shared/documents/store/update.ts';
import { ownedDocumentsEndpoint } from '../../../shared/http/endpoint.ts';
import { ifMatchOf, respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['update-project-document'];

export const handler = ownedDocumentsEndpoint(route).handler(async (event, { visit, input }) => {
  const { params, body } = input;
  const updated = await updateDocument(visit, params.id, body, ifMatchOf(event));
  const { document, revision } = updated;
  return respond(route, { success: true, data: document, message: 'Updated' }, { revision });
});
