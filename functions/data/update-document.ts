import { validationFailed } from '../../shared/core/errors.ts';
import { createDocumentWithId, updateDocument } from '../../shared/documents/store/write-documents.ts';
import { mustNotExist, preconditionsOf } from '../../shared/http/preconditions.ts';
import { dataWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { created, respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const conditionWithoutDocument = () =>
  validationFailed({
    field: 'where',
    message: 'where cannot be sent with if-none-match: a document that must not exist fulfils no condition',
  });

const route = dataRoutes['update-document'];

export const handler = dataWriteEndpoint(route).handler(async (event, { access, input }) => {
  const { id } = input.params;
  if (event.requestContext.http.method === 'PUT' && mustNotExist(event)) {
    if (input.query.where !== undefined) throw conditionWithoutDocument();
    const { document, revision } = await createDocumentWithId(access, id, input.body);
    return created(respond(route, { success: true, message: 'Created', data: document }, { revision }));
  }
  const asked = preconditionsOf(event, input.query.where);
  const { document, revision } = await updateDocument(access, id, input.body, asked);
  return respond(route, { success: true, message: 'Updated', data: document }, { revision });
});
