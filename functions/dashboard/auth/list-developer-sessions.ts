import { listSessions } from '../../../shared/accounts/sessions.ts';
import { pageFrom } from '../../../shared/core/values.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { developerScope } from '../../../shared/persistence/item-keys.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['list-developer-sessions'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn, input }) => {
  const { userId: developerId, sessionId } = signedIn;
  const sessions = await listSessions(developerScope, developerId);
  const marked = sessions.map((session) => ({ ...session, current: session._id === sessionId }));
  const data = pageFrom(marked, input.query);
  return respondExactly(route, { success: true, data, message: 'Sessions fetched' });
});
