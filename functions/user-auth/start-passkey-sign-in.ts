import { relyingParty, startPasskeySignIn } from '../../shared/accounts/passkeys/passkey.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { usersEndpoint } from '../../shared/http/user-endpoint.ts';
import { projectScope } from '../../shared/persistence/item-keys.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['start-passkey-sign-in'];

export const handler = usersEndpoint(route).handler(async (_event, { project }) => {
  const data = await startPasskeySignIn(projectScope(project.id), relyingParty(project));
  return respondExactly(route, { success: true, data, message: 'Sign in with these options' });
});
