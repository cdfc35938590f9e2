import { AppError } from '../../shared/core/errors.ts';
import { listFilesOf } from '../../shared/documents/files.ts';
import { listOwnFiles } from '../../shared/files/list-files.ts';
import { namedCollection } from '../../shared/http/middleware/collection.ts';
import { respond } from '../../shared/http/reply.ts';
import { fileListEndpoint } from '../../shared/http/user-endpoint.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['list-own-files'];

const message = 'Files fetched';

export const handler = fileListEndpoint(route).handler(async (_event, { project, caller, input }) => {
  const { collection: name, id, ...query } = input.query;
  if (name === undefined && id === undefined) {
    return respond(route, { success: true, data: await listOwnFiles(project, caller.userId ?? '', query), message });
  }
  if (name === undefined || id === undefined) {
    throw new AppError('INVALID_QUERY', 'collection and id name a document together. Send both or neither.');
  }
  const collection = await namedCollection(project, name);
  const data = await listFilesOf({ project, caller, collection }, id, query);
  return respond(route, { success: true, data, message });
});
