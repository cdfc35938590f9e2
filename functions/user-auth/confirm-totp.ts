import { confirmTotp } from '../../shared/accounts/second-factor.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['confirm-totp'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer, input }) => {
  const store = userAccounts(project);
  const recoveryCodes = await confirmTotp(store, bearer, input.body.code);
  return respondExactly(route, { success: true, data: { recoveryCodes }, message: 'Keep these codes in a safe place' });
});
