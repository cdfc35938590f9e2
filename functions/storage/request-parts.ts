import { fileAccess } from '../../shared/documents/files.ts';
import { requestParts } from '../../shared/files/request-upload.ts';
import { uploadEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['request-parts'];

export const handler = uploadEndpoint(route).handler(async (_event, { project, caller, input }) => {
  const data = await requestParts(project, fileAccess(project, caller), input.body);
  return respond(route, { success: true, data, message: 'Parts fetched' });
});
