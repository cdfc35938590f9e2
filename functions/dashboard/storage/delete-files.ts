import { deleteFiles } from '../../../shared/files/delete-files.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardStorageRoutes } from './routes.ts';

const route = dashboardStorageRoutes['delete-files'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { paths } = input.body;
  const deleted = new Set((await deleteFiles(owned.project, paths)).deleted);
  const items = paths.map((path) => ({ path, deleted: deleted.has(path) }));
  return respond(route, { success: true, data: { items }, message: `${deleted.size} files deleted` });
});
