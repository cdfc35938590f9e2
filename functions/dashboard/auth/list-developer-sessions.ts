import { listDeveloperSessions } from '../../../shared/accounts/developers/sessions.ts';
import { accountEndpoint } from '../../../shared/http/endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['list-developer-sessions'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn, input }) => {
  const data = await listDeveloperSessions(signedIn, input.query);
  return respondExactly(route, { success: true, data, message: 'Sessions fetched' });
});
