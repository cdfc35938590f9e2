import { listTokens } from '../../../shared/accounts/developers/tokens.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardTokenRoutes } from './routes.ts';

const route = dashboardTokenRoutes['list-tokens'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn, input }) => {
  const data = await listTokens(signedIn.userId, input.query);
  return respondExactly(route, { success: true, data, message: 'Tokens fetched' });
});
