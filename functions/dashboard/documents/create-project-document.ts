import { createDocument } from '../../../shared/documents/store/write-documents.ts';
import { ownedDocumentsEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['create-project-document'];

export const handler = ownedDocumentsEndpoint(route).handler(async (_event, { access, input }) => {
  const { document, revision } = await createDocument(access, input.body);
  return respond(route, { success: true, data: document, message: 'Document created' }, { revision });
});
