import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { confirmTotp } from '../../../shared/accounts/second-factor.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['confirm-developer-totp'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn, input }) => {
  const recoveryCodes = await confirmTotp(developerAccounts, signedIn, input.body.code);
  return respondExactly(route, { success: true, data: { recoveryCodes }, message: 'Keep these codes in a safe place' });
});
