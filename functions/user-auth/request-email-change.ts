import { requestEmailChange } from '../../shared/accounts/change-credentials.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { clientOf } from '../../shared/http/stack.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['request-email-change'];

export const handler = userEndpoint(route).handler(async (event, { project, bearer, input }) => {
  await requestEmailChange(userAccounts(project), bearer, input.body, clientOf(event));
  return respondExactly(route, {
    success: true,
    message: 'If the address can belong to your account, we have sent it an email to confirm it.',
  });
});
