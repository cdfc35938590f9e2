import { developerAccounts } from '../../../shared/accounts/developers/developers.ts';
import { verifiedMessages, verifyEmail } from '../../../shared/accounts/email-proofs.ts';
import { verifyDashboardToken } from '../../../shared/accounts/tokens.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { bearerToken } from '../../../shared/http/middleware/api-key.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { clientOf } from '../../../shared/http/stack.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['verify-developer-email'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const token = bearerToken(event.headers);
  const bearer = token === undefined ? undefined : await verifyDashboardToken(token);
  const outcome = await verifyEmail(developerAccounts, input.body, clientOf(event), bearer);
  return respondExactly(route, { success: true, message: verifiedMessages[outcome] });
});
