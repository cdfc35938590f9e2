import { resetPassword } from '../../shared/accounts/email-proofs.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { clientOf } from '../../shared/http/stack.ts';
import { usersEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['reset-password'];

export const handler = usersEndpoint(route).handler(async (event, { project, input }) => {
  const { newPassword, ...proof } = input.body;
  const store = userAccounts(project);
  await resetPassword(store, proof, newPassword, clientOf(event));
  return respondExactly(route, { success: true, message: 'Password reset. Sign in with the new password.' });
});
