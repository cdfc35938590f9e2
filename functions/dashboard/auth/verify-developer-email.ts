import { verifyEmail } from '../../../shared/accounts/email-tokens/email-proof.ts';
import { developerAccounts } from '../../../shared/accounts/stores/developers.ts';
import { publicEndpoint } from '../../../shared/http/public-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['verify-developer-email'];

export const handler = publicEndpoint(route).handler(async (_event, { input }) => {
  await verifyEmail(developerAccounts, input.body);
  return respondExactly(route, { success: true, message: 'Email verified' });
});
