import { listPasskeys } from '../../shared/accounts/passkeys/passkey.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['list-passkeys'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer }) => {
  const data = await listPasskeys(userAccounts(project), bearer);
  return respondExactly(route, { success: true, data, message: 'Passkeys fetched' });
});
