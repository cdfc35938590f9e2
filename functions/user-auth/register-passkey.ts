import { registerPasskey } from '../../shared/accounts/passkeys/ceremony.ts';
import { relyingParty } from '../../shared/accounts/passkeys/passkey.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['register-passkey'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer, input }) => {
  const store = userAccounts(project);
  const data = await registerPasskey(store, relyingParty(project), bearer, input.body);
  return respondExactly(route, { success: true, data, message: 'Passkey added' });
});
