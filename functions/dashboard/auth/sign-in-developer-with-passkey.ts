import { consoleParty } from '../../../shared/accounts/developers/console-party.ts';
import { signInWithPasskey } from '../../../shared/accounts/passkeys/sign-in-with-passkey.ts';
import { developerSignIns } from '../../../shared/accounts/stores/developers.ts';
import { clientOf } from '../../../shared/http/client.ts';
import { publicEndpoint } from '../../../shared/http/public-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { developerSignedIn } from '../../../shared/http/signed-in-reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['sign-in-developer-with-passkey'];

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const signedIn = await signInWithPasskey(developerSignIns(), consoleParty(), input.body.response, clientOf(event));
  return respond(route, ...developerSignedIn(event, signedIn, 'Logged in'));
});
