import { aggregateDocuments } from '../../shared/documents/aggregate/aggregate-documents.ts';
import { dataEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['aggregate-documents'];

export const handler = dataEndpoint(route).handler(async (_event, { access, input }) => {
  const options = { includeDeleted: input.query.include_deleted };
  const data = await aggregateDocuments(access, input.body, options);
  return respond(route, { success: true, data, message: 'Aggregation executed successfully.' });
});
