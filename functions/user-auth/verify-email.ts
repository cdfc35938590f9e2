import { verifyEmail } from '../../shared/accounts/email-tokens/email-proof.ts';
import { userAccounts } from '../../shared/accounts/stores/users.ts';
import { usersEndpoint } from '../../shared/http/endpoint.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['verify-email'];

export const handler = usersEndpoint(route).handler(async (_event, { project, input }) => {
  await verifyEmail(userAccounts(project), input.body);
  return respondExactly(route, { success: true, message: 'Email verified' });
});
