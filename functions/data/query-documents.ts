import { queryDocuments } from '../../shared/documents/query/list-documents.ts';
import { dataEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { listMessage } from '../list-message.ts';
import { dataRoutes } from './routes.ts';

const route = dataRoutes['query-documents'];

export const handler = dataEndpoint(route).handler(async (_event, { access, input }) => {
  const data = await queryDocuments(access, input.body);
  return respond(route, { success: true, data, message: listMessage(data) });
});
