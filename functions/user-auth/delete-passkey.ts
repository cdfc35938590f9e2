import { deletePasskey } from '../../shared/accounts/passkeys/passkey.ts';
import { userAccounts, userSignInMethods } from '../../shared/accounts/users/users.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['delete-passkey'];

export const handler = userEndpoint(route).handler(async (_event, { project, bearer, input }) => {
  const { id } = input.params;
  const store = userAccounts(project);
  await deletePasskey(store, bearer, id, userSignInMethods(project));
  return respondExactly(route, { success: true, data: { _id: id }, message: 'Passkey deleted' });
});
