import { requireAccount } from '../../shared/accounts/account-store.ts';
import { securityView } from '../../shared/accounts/users/profile.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['get-security'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer }) => {
  const data = securityView(await requireAccount(userAccounts(project), bearer.userId));
  return respondExactly(route, { success: true, data, message: 'Ways to sign in fetched' });
});
