import { startSignIn } from '../../shared/accounts/social/start-sign-in.ts';
import { begunBy, userProvider, userSite } from '../../shared/accounts/users/social-site.ts';
import { socialCookies } from '../../shared/http/cookies.ts';
import { bearerToken } from '../../shared/http/middleware/api-key.ts';
import { navigationEndpoint } from '../../shared/http/project-endpoint.ts';
import { redirect } from '../../shared/http/reply.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['start-sign-in'];

export const handler = navigationEndpoint(route).handler(async (event, { project, input }) => {
  const provider = userProvider(project, input.params.provider);
  const { location, begun } = await startSignIn(
    userSite(project),
    provider,
    await begunBy(project, bearerToken(event.headers)),
  );
  const cookies = begun ? socialCookies.users.set(event, begun.verifier, begun.state) : [];
  return redirect(route, location, { cookies });
});
