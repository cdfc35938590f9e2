import { changeVisibility } from '../../shared/files/move-file.ts';
import { projectEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['change-visibility'];

export const handler = projectEndpoint(route).handler(async (_event, { project, input }) => {
  const data = await changeVisibility(project, input.body.path, input.body.visibility);
  return respond(route, { success: true, data, message: `The file is ${data.visibility}` });
});
