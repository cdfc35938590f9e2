import { deleteDocument } from '../../shared/documents/store/write-documents.ts';
import { preconditionsOf } from '../../shared/http/preconditions.ts';
import { dataWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['delete-document'];

export const handler = dataWriteEndpoint(route).handler(async (event, { access, input }) => {
  const { params, query } = input;
  const { id } = params;
  const asked = preconditionsOf(event, query.where);
  const { message, revision } = await deleteDocument(access, id, query.permanent, asked);
  return respond(route, { success: true, data: { id }, message }, { revision });
});
