import { developerReturn } from '../../../shared/accounts/developers/social-site.ts';
import { finishSignIn } from '../../../shared/accounts/social/finish-sign-in.ts';
import { requireProvider } from '../../../shared/accounts/social/providers.ts';
import { socialCookies } from '../../../shared/http/cookies.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { redirect } from '../../../shared/http/reply.ts';
import { clientOf } from '../../../shared/http/stack.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['finish-developer-sign-in'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const { state = '', code, error } = input.query;
  const sent = { state, code, error, verifier: socialCookies.developers.get(event, state) };
  const { location } = await finishSignIn(
    developerReturn(),
    async () => requireProvider('github'),
    sent,
    clientOf(event),
  );
  const cookies = sent.verifier === undefined ? [] : socialCookies.developers.remove(event, state);
  return redirect(route, location, { cookies });
});
