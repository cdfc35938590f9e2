import { beginSignIn } from '../../shared/accounts/social/start-sign-in.ts';
import { begunBy, userProvider, userSite } from '../../shared/accounts/users/social-site.ts';
import { calledSocialCookie } from '../../shared/http/cookies.ts';
import { bearerToken } from '../../shared/http/middleware/api-key.ts';
import { respond } from '../../shared/http/reply.ts';
import { usersEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['begin-sign-in'];

export const handler = usersEndpoint(route).handler(async (event, { project, input }) => {
  const provider = userProvider(project, input.params.provider);
  const by = await begunBy(project, bearerToken(event.headers));
  const { location: url, begun } = await beginSignIn(userSite(project), provider, by);
  const cookies = calledSocialCookie.set(event, begun.verifier, { state: begun.state, project });
  return respond(route, { success: true, data: { url }, message: 'Send the browser to this address' }, { cookies });
});
