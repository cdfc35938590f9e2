import { signInWithPasskey } from '../../shared/accounts/passkeys/ceremony.ts';
import { relyingParty } from '../../shared/accounts/passkeys/passkey.ts';
import { userSignIns } from '../../shared/accounts/users/users.ts';
import { signedIn } from '../../shared/http/cookies.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { clientOf } from '../../shared/http/stack.ts';
import { usersEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['sign-in-with-passkey'];

export const handler = usersEndpoint(route).handler(async (event, context) => {
  const { project, input } = context;
  const party = relyingParty(project);
  const done = await signInWithPasskey(userSignIns(project), party, input.body.response, clientOf(event));
  return respondExactly(route, ...(await signedIn(event, context, done, 'Signed in')));
});
