import { signInByCode } from '../../shared/accounts/code-sign-in.ts';
import { userSignIns } from '../../shared/accounts/stores/users.ts';
import { openByAddress } from '../../shared/accounts/users/sign-up.ts';
import { clientOf } from '../../shared/http/client.ts';
import { usersEndpoint } from '../../shared/http/endpoint.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { created, signedIn } from '../../shared/http/signed-in-reply.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['sign-in-by-code'];

export const handler = usersEndpoint(route).handler(async (event, context) => {
  const { project, users, input } = context;
  const { token, email, code: otp } = input.body;
  const client = clientOf(event);
  const open = openByAddress(project, users, client);
  const done = await signInByCode(userSignIns(project), { token, email, otp }, open, client);
  const reply = respondExactly(route, ...signedIn(event, context, done, done.isNew ? 'Account created' : 'Logged in'));
  return done.isNew ? created(reply) : reply;
});
