import { verifyDeveloperEmail } from '../../../shared/accounts/developers/email-tokens.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['verify-developer-email'];

export const handler = publicEndpoint(route).handler(async (_event, { input }) => {
  await verifyDeveloperEmail(input.body);
  return respondExactly(route, { success: true, message: 'Email verified' });
});
