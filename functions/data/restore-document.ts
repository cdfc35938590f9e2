import { restoreDocument } from '../../shared/documents/store/write-documents.ts';
import { preconditionsOf } from '../../shared/http/preconditions.ts';
import { dataWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['restore-document'];

export const handler = dataWriteEndpoint(route).handler(async (event, { access, input }) => {
  const { id } = input.params;
  const { document, revision } = await restoreDocument(access, id, preconditionsOf(event, input.query.where));
  return respond(route, { success: true, data: document, message: 'Document recovered' }, { revision });
});
