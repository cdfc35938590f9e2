import { developerSite } from '../../../shared/accounts/developers/social-site.ts';
import { requireProvider } from '../../../shared/accounts/social/providers.ts';
import { startSignIn } from '../../../shared/accounts/social/start-sign-in.ts';
import { socialCookies } from '../../../shared/http/cookies.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { redirect } from '../../../shared/http/reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['start-developer-sign-in'];

export const handler = publicEndpoint(route).handler(async (event) => {
  const { location, begun } = await startSignIn(developerSite(), async () => requireProvider('github'));
  const cookies = begun ? socialCookies.developers.set(event, begun.verifier, begun.state) : [];
  return redirect(route, location, { cookies });
});
