import { aggregateDocuments } from '../../shared/documents/aggregate/aggregate-documents.ts';
import { dataEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['aggregate-documents'];

export const handler = dataEndpoint(route).handler(async (_event, { visit, input }) => {
  const options = { includeDeleted: input.query.include_deleted };
  const data = await aggregateDocuments(visit, input.body, options);
  return respond(route, { success: true, data, message: 'Aggregation executed successfully.' });
});
