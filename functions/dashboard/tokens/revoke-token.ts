import { revokeToken } from '../../../shared/accounts/developers/tokens.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardTokenRoutes } from './routes.ts';

const route = dashboardTokenRoutes['revoke-token'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn, input }) => {
  const { id } = input.params;
  await revokeToken(signedIn.userId, id);
  return respondExactly(route, { success: true, data: { _id: id }, message: 'Token revoked' });
});
