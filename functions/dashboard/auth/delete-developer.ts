import { deleteDeveloper } from '../../../shared/accounts/developers/remove-developers.ts';
import { clientOf } from '../../../shared/http/client.ts';
import { accountEndpoint } from '../../../shared/http/endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { dashboardCookie } from '../../../shared/http/sign-in-cookies.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['delete-developer'];

export const handler = accountEndpoint(route).handler(async (event, { signedIn, input }) => {
  await deleteDeveloper(signedIn, input.body.password, clientOf(event));
  const body = { success: true, data: { _id: signedIn.userId }, message: 'Account is being deleted' } as const;
  return respond(route, body, { cookies: dashboardCookie.remove(event) });
});
