import { requestUpload, requestUserUpload } from '../../shared/files/request-upload.ts';
import { uploadWriteEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['request-upload'];

export const handler = uploadWriteEndpoint(route).handler(async (_event, { project, caller, input, run }) => {
  const { kind, userId: owner } = caller;
  if (kind === 'publishable') return respond(route, await requestUserUpload(project, owner, input.body, run));
  return respond(route, await requestUpload(project, { ...input.body, owner }, run));
});
