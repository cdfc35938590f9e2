import { withEffects } from '../../../shared/documents/store/effect-writes.ts';
import { updateDocument } from '../../../shared/documents/store/update.ts';
import { ownedDocumentsEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { preconditionsOf } from '../../../shared/http/preconditions.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['update-project-document'];

export const handler = ownedDocumentsEndpoint(route).handler(async (event, { access, input }) => {
  const { params, body } = input;
  const update = () => updateDocument(access, params.id, body, preconditionsOf(event, input.query.where));
  const { document, revision } = await withEffects(access, ['update'], update);
  return respond(route, { success: true, data: document, message: 'Updated' }, { revision });
});
