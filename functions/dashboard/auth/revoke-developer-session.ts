import { revokeDeveloperSession } from '../../../shared/accounts/developers/sessions.ts';
import { accountEndpoint } from '../../../shared/http/endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['revoke-developer-session'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn, input }) => {
  const { id } = input.params;
  await revokeDeveloperSession(signedIn, id);
  return respondExactly(route, { success: true, data: { _id: id }, message: 'Session revoked' });
});
