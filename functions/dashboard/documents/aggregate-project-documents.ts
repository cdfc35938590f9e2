import { aggregateDocuments } from '../../../shared/documents/aggregate/aggregate-documents.ts';
import { ownedCollectionEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardDocumentRoutes } from './routes.ts';

const route = dashboardDocumentRoutes['aggregate-project-documents'];

export const handler = ownedCollectionEndpoint(route).handler(async (_event, { access, input }) => {
  const options = { includeDeleted: input.query.include_deleted };
  const data = await aggregateDocuments(access, input.body, options);
  return respond(route, { success: true, data, message: 'Aggregation executed successfully.' });
});
