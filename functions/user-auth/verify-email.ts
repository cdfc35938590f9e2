import { verifiedMessages, verifyEmail } from '../../shared/accounts/email-proofs.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { clientOf } from '../../shared/http/stack.ts';
import { bearerIfAny, usersEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['verify-email'];

export const handler = usersEndpoint(route).handler(async (event, { project, input }) => {
  const bearer = await bearerIfAny(project, event.headers);
  const outcome = await verifyEmail(userAccounts(project), input.body, clientOf(event), bearer);
  return respondExactly(route, { success: true, message: verifiedMessages[outcome] });
});
