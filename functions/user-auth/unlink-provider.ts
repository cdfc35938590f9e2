import { unlinkProvider } from '../../shared/accounts/social/link.ts';
import { userAccounts, userSignInMethods } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['unlink-provider'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer, input }) => {
  const store = userAccounts(project);
  await unlinkProvider(store, bearer, input.params.provider, userSignInMethods(project));
  return respondExactly(route, { success: true, message: 'Provider unlinked' });
});
