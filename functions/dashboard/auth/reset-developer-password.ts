import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { resetPassword } from '../../../shared/accounts/email-proofs.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { clientOf } from '../../../shared/http/stack.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['reset-developer-password'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const { newPassword, ...proof } = input.body;
  await resetPassword(developerAccounts, proof, newPassword, clientOf(event));
  return respondExactly(route, { success: true, message: 'Password changed. Sign in with the new one.' });
});
