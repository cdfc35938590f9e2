import { signInByCode } from '../../shared/accounts/sign-in.ts';
import { openByAddress } from '../../shared/accounts/users/sign-up.ts';
import { userSignIns } from '../../shared/accounts/users/users.ts';
import { signedIn } from '../../shared/http/cookies.ts';
import { created, respondExactly } from '../../shared/http/reply.ts';
import { clientOf } from '../../shared/http/stack.ts';
import { usersEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['sign-in-by-code'];

export const handler = usersEndpoint(route).handler(async (event, context) => {
  const { project, users, input } = context;
  const { token, email, code: otp } = input.body;
  const client = clientOf(event);
  const open = openByAddress(project, users, client);
  const done = await signInByCode(userSignIns(project), { token, email, otp }, open, client);
  const reply = respondExactly(
    route,
    ...(await signedIn(event, context, done, done.isNew ? 'Account created' : 'Signed in')),
  );
  return done.isNew ? created(reply) : reply;
});
