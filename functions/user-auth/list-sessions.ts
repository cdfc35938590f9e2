import { listSessions, withCurrent } from '../../shared/accounts/sessions.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { projectScope } from '../../shared/persistence/item-keys.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['list-sessions'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer }) => {
  const data = withCurrent(await listSessions(projectScope(project.id), bearer.userId), bearer.sessionId);
  return respondExactly(route, { success: true, data, message: 'Sessions fetched successfully' });
});
