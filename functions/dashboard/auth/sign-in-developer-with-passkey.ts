import { developerSignIns } from '../../../shared/accounts/developers/developers.ts';
import { consoleRelyingParty } from '../../../shared/accounts/developers/social-site.ts';
import { signInWithPasskey } from '../../../shared/accounts/passkeys/ceremony.ts';
import { developerSignedIn } from '../../../shared/http/cookies.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { clientOf } from '../../../shared/http/stack.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['sign-in-developer-with-passkey'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const signedIn = await signInWithPasskey(
    developerSignIns(),
    consoleRelyingParty(),
    input.body.response,
    clientOf(event),
  );
  return respond(route, ...developerSignedIn(event, signedIn, 'Signed in'));
});
