import { fileAccess } from '../../shared/documents/files.ts';
import { deleteFile } from '../../shared/files/delete-files.ts';
import { uploadEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['delete-file'];

export const handler = uploadEndpoint(route).handler(async (_event, { project, caller, input }) => {
  await deleteFile(project, input.body.path, fileAccess(project, caller));
  return respond(route, { success: true, data: {}, message: 'File deleted successfully' });
});
