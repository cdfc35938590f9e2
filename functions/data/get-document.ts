import { getDocument } from '../../shared/documents/query/get-document.ts';
import { parsePopulate } from '../../shared/documents/query/list-query.ts';
import { isKnown, notModified } from '../../shared/http/preconditions.ts';
import { dataEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['get-document'];

export const handler = dataEndpoint(route).handler(async (event, { access, input }) => {
  const { include_deleted: includeDeleted, populate, expand } = input.query;
  const options = { includeDeleted, populate: parsePopulate(populate, expand) };
  const { document, revision } = await getDocument(access, input.params.id, options);
  if (revision !== undefined && isKnown(event, revision)) return notModified(revision);
  return respond(route, document, { revision });
});
