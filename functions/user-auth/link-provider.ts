import { linkProvider } from '../../shared/accounts/social/link.ts';
import { userProvider, userSite } from '../../shared/accounts/users/social-site.ts';
import { userAccounts } from '../../shared/accounts/users/users.ts';
import { calledSocialCookie } from '../../shared/http/cookies.ts';
import { respond } from '../../shared/http/reply.ts';
import { userEndpoint } from '../../shared/http/user-endpoint.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['link-provider'];

export const handler = userEndpoint(route).handler(async (event, { project, bearer, input }) => {
  const provider = userProvider(project, input.params.provider);
  const { location: url, begun } = await linkProvider(userAccounts(project), userSite(project), provider, bearer);
  const cookies = calledSocialCookie.set(event, begun.verifier, { state: begun.state, project });
  return respond(route, { success: true, data: { url }, message: 'Send the browser to this address' }, { cookies });
});
