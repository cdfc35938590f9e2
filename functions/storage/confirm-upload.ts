import { confirmUpload } from '../../shared/files/confirm-upload.ts';
import { projectEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['confirm-upload'];

export const handler = projectEndpoint(route).handler(async (_event, { project, input }) => {
  const confirmed = await confirmUpload(project, input.body.filePath, input.body.size);
  return respond(route, { message: 'Upload confirmed', ...confirmed });
});
