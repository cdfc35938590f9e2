import { restoreDocument } from '../../../shared/documents/store/write-documents.ts';
import { ownedDocumentsEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { preconditionsOf } from '../../../shared/http/preconditions.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardTrashRoutes } from './routes.ts';

const route = dashboardTrashRoutes['restore-project-document'];

export const handler = ownedDocumentsEndpoint(route).handler(async (event, { access, input }) => {
  const asked = preconditionsOf(event, input.query.where);
  const { document, revision } = await restoreDocument(access, input.params.id, asked);
  return respond(route, { success: true, data: document, message: 'Document recovered' }, { revision });
});
