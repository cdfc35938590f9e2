import { signLinks } from '../../shared/files/signed-links.ts';
import { filesEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['sign-links'];

export const handler = filesEndpoint(route).handler(async (_event, { project, caller, input }) => {
  const data = await signLinks(project, caller, input.body);
  return respond(route, { success: true, data, message: 'Links signed' });
});
