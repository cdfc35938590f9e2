import { acceptUserInvitation } from '../../shared/accounts/users/accept-invitation.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['accept-user-invitation'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer, input }) => {
  const data = await acceptUserInvitation(project, bearer, input.body.token);
  return respondExactly(route, { success: true, data, message: 'Invitation accepted' });
});
