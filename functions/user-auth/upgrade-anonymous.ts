import { upgradeAnonymous } from '../../shared/accounts/users/anonymous.ts';
import { ownView } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['upgrade-anonymous'];

export const handler = userEndpoint(route).handler(async (_event, { project, users, bearer, input }) => {
  const { account, issued } = await upgradeAnonymous(project, bearer, input.body);
  return respondExactly(route, {
    success: true,
    message: input.body.password === undefined ? 'A code is on its way to the address' : 'Account upgraded',
    ...issued,
    token: issued.accessToken,
    userId: bearer.userId,
    user: await ownView(project, users, account),
  });
});
