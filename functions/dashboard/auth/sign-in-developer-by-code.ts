import { developerSignIns } from '../../../shared/accounts/developers/developers.ts';
import { signInByCode } from '../../../shared/accounts/sign-in.ts';
import { developerSignedIn } from '../../../shared/http/cookies.ts';
import { publicEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { clientOf } from '../../../shared/http/stack.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['sign-in-developer-by-code'];

/** Unlike users, developers cannot sign up with a code. */
const openNone = async () => undefined;

export const handler = publicEndpoint(route).handler(async (event, { input }) => {
  const { code: otp, ...proof } = input.body;
  const signedIn = await signInByCode(developerSignIns(), { ...proof, otp }, openNone, clientOf(event));
  return respond(route, ...developerSignedIn(event, signedIn, 'Signed in'));
});
