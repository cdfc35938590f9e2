import { revokeSession } from '../../../shared/accounts/sessions.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { developerScope } from '../../../shared/persistence/item-keys.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['revoke-developer-session'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn, input }) => {
  const { id } = input.params;
  await revokeSession(developerScope, signedIn, id);
  return respondExactly(route, { success: true, data: { _id: id }, message: 'Session revoked' });
});
