import { signInByCode } from '../../../shared/accounts/code-sign-in.ts';
import { developerSignIns } from '../../../shared/accounts/stores/developers.ts';
import { clientOf } from '../../../shared/http/client.ts';
import { publicEndpoint } from '../../../shared/http/public-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { developerSignedIn } from '../../../shared/http/signed-in-reply.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['sign-in-developer-by-code'];

/** Registering asks for a password or GitHub. */
const openNone = async () => undefined;

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const { code: otp, ...proof } = input.body;
  const signedIn = await signInByCode(developerSignIns(), { ...proof, otp }, openNone, clientOf(event));
  return respond(route, ...developerSignedIn(event, signedIn, 'Logged in'));
});
