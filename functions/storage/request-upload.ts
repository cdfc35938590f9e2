import { requestUpload, requestUserUpload } from '../../shared/files/request-upload.ts';
import { uploadEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['request-upload'];

export const handler = uploadEndpoint(route).handler(async (_event, { project, caller, input }) => {
  const { kind, userId: owner } = caller;
  if (kind === 'publishable') return respond(route, await requestUserUpload(project, owner, input.body));
  return respond(route, await requestUpload(project, { ...input.body, owner }));
});
