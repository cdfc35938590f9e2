import { tokenMissing } from '../../shared/documents/access/access.ts';
import { fileAccess } from '../../shared/documents/files.ts';
import { signLinks } from '../../shared/files/signed-links.ts';
import { fileReadEndpoint } from '../../shared/http/project-endpoint.ts';
import { respond } from '../../shared/http/reply.ts';
import { storageRoutes } from './routes.ts';

const route = storageRoutes['sign-links'];

export const handler = fileReadEndpoint(route).handler(async (_event, { project, caller, input }) => {
  const data = await signLinks(project, fileAccess(project, caller), input.body);
  // Tells nobody without a user which files exist.
  const isUnknown = caller.kind === 'publishable' && caller.userId === undefined;
  if (isUnknown && data.every((link) => 'error' in link)) throw tokenMissing();
  return respond(route, { success: true, data, message: 'Links signed' });
});
