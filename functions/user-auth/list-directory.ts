import { listDirectory } from '../../shared/accounts/users/directory.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { bearerIfAny, usersEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['list-directory'];

export const handler = usersEndpoint(route).handler(async (event, { project, users, input }) => {
  const bearer = await bearerIfAny(project, event.headers);
  const caller = { kind: 'publishable', ...(bearer && { userId: bearer.userId }) } as const;
  const data = await listDirectory(project, users, caller, input.query, event.rawQueryString);
  return respondExactly(route, { success: true, data, message: 'Users fetched' });
});
