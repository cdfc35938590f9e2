import { getDocument } from '../../shared/documents/read/get-document.ts';
import { parsePopulate } from '../../shared/documents/read/list-query.ts';
import { dataEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['get-document'];

export const handler = dataEndpoint(route).handler(async (_event, { project, collection, caller, input }) => {
  const { include_deleted: includeDeleted, populate, expand } = input.query;
  const options = { includeDeleted, populate: parsePopulate(populate, expand) };
  return respond(route, await getDocument(project, collection, caller, input.params.id, options));
});
