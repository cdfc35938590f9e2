import { changePassword } from '../../shared/accounts/change-credentials.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { clientOf } from '../../shared/http/stack.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['change-password'];

export const handler = userEndpoint(route).handler(async (event, { project, bearer, input }) => {
  const store = userAccounts(project);
  await changePassword(store, bearer, input.body, clientOf(event));
  return respondExactly(route, { success: true, message: 'Password changed' });
});
