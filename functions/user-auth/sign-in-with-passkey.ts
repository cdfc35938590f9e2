import { relyingParty } from '../../shared/accounts/passkeys/relying-party.ts';
import { signInWithPasskey } from '../../shared/accounts/passkeys/sign-in-with-passkey.ts';
import { userSignIns } from '../../shared/accounts/stores/users.ts';
import { clientOf } from '../../shared/http/client.ts';
import { usersEndpoint } from '../../shared/http/endpoint.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { signedIn } from '../../shared/http/signed-in-reply.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['sign-in-with-passkey'];

export const handler = usersEndpoint(route).handler(async (event, context) => {
  const { project, input } = context;
  const party = relyingParty(project);
  const done = await signInWithPasskey(userSignIns(project), party, input.body.response, clientOf(event));
  return respondExactly(route, ...signedIn(event, context, done, 'Logged in'));
});
