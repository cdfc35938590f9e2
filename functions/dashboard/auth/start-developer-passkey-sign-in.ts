import { consoleRelyingParty } from '../../../shared/accounts/developers/social-site.ts';
import { startPasskeySignIn } from '../../../shared/accounts/passkeys/passkey.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respondExactly } from '../../../shared/http/reply.ts';
import { developerScope } from '../../../shared/persistence/item-keys.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['start-developer-passkey-sign-in'];

export const handler = publicEndpoint(route).handler(async () => {
  const data = await startPasskeySignIn(developerScope, consoleRelyingParty());
  return respondExactly(route, { success: true, data, message: 'Sign in with these options' });
});
