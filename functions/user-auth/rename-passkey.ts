import { renamePasskey } from '../../shared/accounts/passkeys/passkey.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['rename-passkey'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer, input }) => {
  const data = await renamePasskey(userAccounts(project), bearer, input.params.id, input.body.name);
  return respondExactly(route, { success: true, data, message: 'Passkey renamed' });
});
