import { startUserRegistration } from '../../shared/accounts/users/social-site.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['start-registration'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer }) => {
  const data = await startUserRegistration(project, bearer);
  return respondExactly(route, { success: true, data, message: 'Create a passkey with these options' });
});
