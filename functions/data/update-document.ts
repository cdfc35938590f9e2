import { updateDocument } from '../../shared/documents/store/update.ts';
import { dataWriteEndpoint } from '../../shared/http/endpoint.ts';
import { ifMatchOf, respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['update-document'];

export const handler = dataWriteEndpoint(route).handler(async (event, { visit, input }) => {
  const { id } = input.params;
  const { document, revision } = await updateDocument(visit, id, input.body, ifMatchOf(event));
  return respond(route, { success: true, message: 'Updated', data: document }, { revision });
});
