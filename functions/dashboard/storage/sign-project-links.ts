import { developerAccess } from '../../../shared/files/file-items.ts';
import { signLinks } from '../../../shared/files/signed-links.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardStorageRoutes } from './routes.ts';

const route = dashboardStorageRoutes['sign-project-links'];

/** Members have the access of the secret key. */
export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await signLinks(owned.project, developerAccess, input.body);
  return respond(route, { success: true, data, message: 'Links signed' });
});
