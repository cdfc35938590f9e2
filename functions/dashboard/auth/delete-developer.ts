import { deleteDeveloper } from '../../../shared/deletion/developers.ts';
import { dashboardCookie } from '../../../shared/http/cookies.ts';
import { accountEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { clientOf } from '../../../shared/http/stack.ts';
import { dashboardAuthRoutes } from './routes.ts';

const route = dashboardAuthRoutes['delete-developer'];

export const handler = accountEndpoint(route).handler(async (event, { signedIn, input }) => {
  await deleteDeveloper(signedIn, input.body.password, clientOf(event));
  const body = { success: true, data: { _id: signedIn.userId }, message: 'Account is being deleted' } as const;
  return respond(route, body, { cookies: dashboardCookie.remove(event) });
});
