import { listUserInvitations } from '../../shared/accounts/users/invitations.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['list-user-invitations'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer }) => {
  const data = await listUserInvitations(project, bearer);
  return respondExactly(route, { success: true, data, message: 'Invitations fetched' });
});
