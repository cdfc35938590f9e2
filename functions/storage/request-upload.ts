import { requestUpload } from '../../shared/files/request-upload.ts';
import { projectEndpoint } from '../../shared/http/endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['request-upload'];

export const handler = projectEndpoint(route).handler(async (_event, { project, input }) =>
  respond(route, await requestUpload(project, input.body)),
);
