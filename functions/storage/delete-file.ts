import { deleteFile } from '../../shared/files/delete-files.ts';
import { projectEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['delete-file'];

export const handler = projectEndpoint(route).handler(async (_event, { project, input }) => {
  await deleteFile(project, input.body.path);
  return respond(route, { success: true, data: {}, message: 'File deleted successfully' });
});
