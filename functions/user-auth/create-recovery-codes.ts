import { createRecoveryCodes } from '../../shared/accounts/second-factor.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['create-recovery-codes'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer, input }) => {
  const recoveryCodes = await createRecoveryCodes(userAccounts(project), bearer, input.body);
  return respondExactly(route, { success: true, data: { recoveryCodes }, message: 'Keep these codes in a safe place' });
});
