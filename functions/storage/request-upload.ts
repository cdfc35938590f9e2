import { requestUpload } from '../../shared/files/request-upload.ts';
import { filesEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['request-upload'];

export const handler = filesEndpoint(route).handler(async (_event, { project, caller, input }) =>
  respond(route, await requestUpload(project, { ...input.body, owner: caller.userId })),
);
