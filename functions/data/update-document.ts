import { insertById } from '../../shared/documents/store/insert-by-id.ts';
import { updateDocument } from '../../shared/documents/store/update.ts';
import { dataWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { created, ifMatchOf, mustNotExist, respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['update-document'];

export const handler = dataWriteEndpoint(route).handler(async (event, { access, input }) => {
  const { id } = input.params;
  if (event.requestContext.http.method === 'PUT' && mustNotExist(event)) {
    const { document, revision } = await insertById(access, id, input.body);
    return created(respond(route, { success: true, message: 'Created', data: document }, { revision }));
  }
  const { document, revision } = await updateDocument(access, id, input.body, ifMatchOf(event));
  return respond(route, { success: true, message: 'Updated', data: document }, { revision });
});
