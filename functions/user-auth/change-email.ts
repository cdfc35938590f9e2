import { changeEmail } from '../../shared/accounts/change-email.ts';
import { userAccounts } from '../../shared/accounts/stores/users.ts';
import { refuseAddress } from '../../shared/accounts/users/insert-user.ts';
import { userEndpoint } from '../../shared/http/endpoint.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['change-email'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer, input }) => {
  await changeEmail(userAccounts(project), bearer, input.body).catch(refuseAddress);
  return respondExactly(route, { success: true, message: 'Address changed' });
});
