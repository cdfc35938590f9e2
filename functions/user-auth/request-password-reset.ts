import { requestEmailToken } from '../../shared/accounts/email-proofs.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { usersEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['request-password-reset'];

export const handler = usersEndpoint(route).handler(async (_event, { project, input }) => {
  await requestEmailToken(userAccounts(project), 'reset', input.body.email);
  return respondExactly(route, {
    success: true,
    message: 'If the address belongs to an account, we have sent it an email to set a new password.',
  });
});
