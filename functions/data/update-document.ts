import { validationFailed } from '../../shared/core/errors.ts';
import { withEffects } from '../../shared/documents/store/effect-writes.ts';
import { insertById } from '../../shared/documents/store/insert.ts';
import { updateDocument } from '../../shared/documents/store/update.ts';
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
    const { document, revision } = await withEffects(access, ['create'], () => insertById(access, id, input.body));
    return created(respond(route, { success: true, message: 'Created', data: document }, { revision }));
  }
  const update = () => updateDocument(access, id, input.body, preconditionsOf(event, input.query.where));
  const { document, revision } = await withEffects(access, ['update'], update);
  return respond(route, { success: true, message: 'Updated', data: document }, { revision });
});
