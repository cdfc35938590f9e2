import { requireCurrentUser } from '../../shared/accounts/users/current-user.ts';
import { userView } from '../../shared/accounts/users/user-view.ts';
import { userEndpoint } from '../../shared/http/endpoint.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['get-me'];

export const handler = userEndpoint(route).handler(async (_event, { project, users, bearer }) => {
  const data = userView(users, await requireCurrentUser(project, bearer));
  return respondExactly(route, { success: true, data, message: 'User fetched successfully' });
});
