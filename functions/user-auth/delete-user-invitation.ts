import { deleteUserInvitation } from '../../shared/accounts/users/invitations.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['delete-user-invitation'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer, input }) => {
  const { id } = input.params;
  await deleteUserInvitation(project, bearer, id);
  return respondExactly(route, { success: true, data: { _id: id }, message: 'Invitation withdrawn' });
});
