import { getDocument } from '../../../shared/documents/query/get-document.ts';
import { parsePopulate } from '../../../shared/documents/query/list-query.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { viewedAs } from '../../../shared/http/middleware/collection.ts';
import { isKnown, notModified } from '../../../shared/http/preconditions.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['get-project-document'];

export const handler = ownedCollectionEndpoint(route).handler(async (event, { access, input }) => {
  const { include_deleted: includeDeleted, populate, expand } = input.query;
  const options = { includeDeleted, populate: parsePopulate(populate, expand) };
  const { document, revision } = await getDocument(viewedAs(access, input.query.view_as), input.params.id, options);
  if (revision !== undefined && isKnown(event, revision)) return notModified(revision);
  return respond(route, { success: true, data: document, message: 'Document fetched' }, { revision });
});
