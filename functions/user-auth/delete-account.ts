import { deleteAccount } from '../../shared/accounts/users/manage-users.ts';
import { refreshCookie } from '../../shared/http/cookies.ts';
import { respond } from '../../shared/http/reply.ts';
import { clientOf } from '../../shared/http/stack.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['delete-account'];

export const handler = userEndpoint(route).handler(async (event, { project, users, bearer, input }) => {
  await deleteAccount(project, users, bearer, input.body.password, clientOf(event));
  return respond(
    route,
    { success: true, data: { _id: bearer.userId }, message: 'Account deleted' },
    { cookies: refreshCookie.remove(event, project) },
  );
});
