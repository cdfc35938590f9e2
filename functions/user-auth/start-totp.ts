import { startTotp } from '../../shared/accounts/second-factor.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['start-totp'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer }) => {
  const data = await startTotp(userAccounts(project), bearer);
  return respondExactly(route, { success: true, data, message: 'Add it to an authenticator app, then confirm a code' });
});
