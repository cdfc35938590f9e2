import { finishSignIn } from '../../shared/accounts/social/finish-sign-in.ts';
import { userReturn } from '../../shared/accounts/users/social-site.ts';
import { socialCookies } from '../../shared/http/cookies.ts';
import { publicEndpoint } from '../../shared/http/endpoint.ts';
import { redirect } from '../../shared/http/reply.ts';
import { clientOf } from '../../shared/http/stack.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['finish-sign-in'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const { state = '', code, error, iss: issuer, user: form } = input.query;
  const sent = { state, code, error, issuer, form, verifier: socialCookies.users.get(event, state) };
  const ends = await userReturn(state, input.params.provider);
  const { location } = await finishSignIn(ends, ends.provider, sent, clientOf(event));
  return redirect(route, location, {
    cookies: sent.verifier === undefined ? [] : socialCookies.users.remove(event, state),
  });
});
