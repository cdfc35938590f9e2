import { deleteDocument } from '../../shared/documents/trash/delete-document.ts';
import { dataWriteEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { ifMatchOf } from '../../shared/http/revision-headers.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['delete-document'];

export const handler = dataWriteEndpoint(route).handler(async (event, { visit, input }) => {
  const { params, query } = input;
  const { id } = params;
  const deletion = await deleteDocument(visit, id, query.permanent, ifMatchOf(event));
  const { message, revision } = deletion;
  return respond(route, { success: true, data: { id }, message }, { revision });
});
