import { restoreDocument } from '../../shared/documents/trash/restore-document.ts';
import { dataWriteEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { ifMatchOf } from '../../shared/http/revision-headers.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['restore-document'];

export const handler = dataWriteEndpoint(route).handler(async (event, { visit, input }) => {
  const { id } = input.params;
  const { document, revision } = await restoreDocument(visit, id, ifMatchOf(event));
  return respond(route, { success: true, data: document, message: 'Document recovered' }, { revision });
});
