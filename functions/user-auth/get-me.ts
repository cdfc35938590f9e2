import { requireAccount } from '../../shared/accounts/account-store.ts';
import { ownView, userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['get-me'];

export const handler = userEndpoint(route).handler(async (_event, { project, users, bearer }) => {
  const data = await ownView(project, users, await requireAccount(userAccounts(project), bearer.userId));
  return respondExactly(route, { success: true, data, message: 'User fetched successfully' });
});
