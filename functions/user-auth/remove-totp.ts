import { removeTotp } from '../../shared/accounts/second-factor.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['remove-totp'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer, input }) => {
  const store = userAccounts(project);
  await removeTotp(store, bearer, input.body);
  return respondExactly(route, { success: true, message: 'Authenticator app removed' });
});
