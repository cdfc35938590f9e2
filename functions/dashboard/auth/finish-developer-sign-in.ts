import { developerReturn } from '../../../shared/accounts/developers/social-site.ts';
import { finishSignIn } from '../../../shared/accounts/social/finish-sign-in.ts';
import { requireProvider } from '../../../shared/accounts/social/providers.ts';
import { clientOf } from '../../../shared/http/client.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { redirect } from '../../../shared/http/reply.ts';
import { noSocialCookie, socialVerifier } from '../../../shared/http/social-cookie.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['finish-developer-sign-in'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const { state = '', code, error } = input.query;
  const sent = { state, code, error, verifier: socialVerifier(event, state) };
  const { location } = await finishSignIn(developerReturn(), requireProvider('github'), sent, clientOf(event));
  const cookies = sent.verifier === undefined ? [] : [noSocialCookie(event, state, 'developers')];
  return redirect(route, location, { cookies });
});
