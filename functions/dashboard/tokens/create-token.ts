import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { createToken } from '../../../shared/accounts/developers/tokens.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardTokenRoutes } from './routes.ts';

const route = dashboardTokenRoutes['create-token'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn, input }) => {
  const data = await createToken(developerAccounts, signedIn, input.body);
  return respondExactly(route, { success: true, data, message: 'Token created. It is only shown now.' });
});
