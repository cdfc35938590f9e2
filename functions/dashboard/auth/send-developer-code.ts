import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { requestEmailToken } from '../../../shared/accounts/email-proofs.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['send-developer-code'];

export const handler = publicEndpoint(route).handler(async (_event, { input }) => {
  await requestEmailToken(developerAccounts, 'code', input.body.email);
  return respondExactly(route, {
    success: true,
    message: 'If the address belongs to an account, we have sent it a code.',
  });
});
