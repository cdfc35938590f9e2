import { finishSignIn } from '../../shared/accounts/social/finish-sign-in.ts';
import { requireProvider } from '../../shared/accounts/social/providers.ts';
import { userReturn } from '../../shared/accounts/users/social-site.ts';
import { clientOf } from '../../shared/http/client.ts';
import { publicEndpoint } from '../../shared/http/public-endpoint.ts';
import { redirect } from '../../shared/http/reply.ts';
import { socialCookies } from '../../shared/http/sign-in-cookies.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['finish-sign-in'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const provider = requireProvider(input.params.provider);
  const { state = '', code, error, user: form } = input.query;
  const sent = { state, code, error, form, verifier: socialCookies.users.get(event, state) };
  const { location } = await finishSignIn(await userReturn(state), provider, sent, clientOf(event));
  return redirect(route, location, {
    cookies: sent.verifier === undefined ? [] : socialCookies.users.remove(event, state),
  });
});
