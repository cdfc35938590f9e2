import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { requestEmailToken } from '../../../shared/accounts/email-proofs.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['resend-developer-verification'];

export const handler = publicEndpoint(route).handler(async (_event, { input }) => {
  await requestEmailToken(developerAccounts, 'verify', input.body.email);
  return respondExactly(route, {
    success: true,
    message: 'If the address belongs to an account that is not verified, we have sent it an email.',
  });
});
