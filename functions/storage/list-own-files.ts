import { listOwnFiles } from '../../shared/files/list-files.ts';
import { respond } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['list-own-files'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer, input }) => {
  const data = await listOwnFiles(project, bearer.userId, input.query);
  return respond(route, { success: true, data, message: 'Files fetched' });
});
