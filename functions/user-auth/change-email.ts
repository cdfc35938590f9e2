import { changeEmail } from '../../shared/accounts/change-credentials.ts';
import { rethrowUserExists } from '../../shared/accounts/users/sign-up.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { clientOf } from '../../shared/http/stack.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['change-email'];

export const handler = userEndpoint(route).handler(async (event, { project, bearer, input }) => {
  await changeEmail(userAccounts(project), bearer, input.body, clientOf(event)).catch(rethrowUserExists);
  return respondExactly(route, { success: true, message: 'Address changed' });
});
