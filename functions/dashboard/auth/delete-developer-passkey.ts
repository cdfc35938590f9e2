import { developerAccounts, developerSignInMethods } from '../../../shared/accounts/developers/developers.ts';
import { deletePasskey } from '../../../shared/accounts/passkeys/passkey.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['delete-developer-passkey'];

export const handler = accountEndpoint(route).handler(async (_event, { signedIn, input }) => {
  const { id } = input.params;
  await deletePasskey(developerAccounts, signedIn, id, developerSignInMethods());
  return respondExactly(route, { success: true, data: { _id: id }, message: 'Passkey deleted' });
});
