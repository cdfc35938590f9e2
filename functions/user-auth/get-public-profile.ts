import { getPublicProfile } from '../../shared/accounts/users/profile.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { usersEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['get-public-profile'];

export const handler = usersEndpoint(route).handler(async (_event, { project, users, input }) => {
  const data = await getPublicProfile(project, users, input.params.username);
  return respondExactly(route, { success: true, data, message: 'Profile fetched successfully' });
});
