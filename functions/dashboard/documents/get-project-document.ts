import { getDocument } from '../../../shared/documents/read/get-document.ts';
import { parsePopulate } from '../../../shared/documents/read/list-query.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['get-project-document'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { owned, collection, input }) => {
  const { include_deleted: includeDeleted, populate, expand } = input.query;
  const options = { includeDeleted, populate: parsePopulate(populate, expand) };
  const data = await getDocument(owned.project, collection, { kind: 'secret' }, input.params.id, options);
  return respond(route, { success: true, data, message: 'Document fetched' });
});
