import { sendUserInvitation } from '../../shared/accounts/users/invitations.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['send-user-invitation'];

export const handler = userEndpoint(route).handler(async (_event, { project, users, bearer, input }) => {
  const { _id, expiresAt } = await sendUserInvitation(project, users, bearer, input.body);
  const data = { _id: _id.toHexString(), expiresAt };
  return respondExactly(route, { success: true, data, message: 'Invitation accepted for sending' });
});
