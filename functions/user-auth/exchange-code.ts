import { exchangeCode } from '../../shared/accounts/social/start-sign-in.ts';
import { respond } from '../../shared/http/reply.ts';
import { usersEndpoint } from '../../shared/http/user-endpoint.ts';
import { projectScope } from '../../shared/persistence/item-keys.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['exchange-code'];

export const handler = usersEndpoint(route).handler(async (_event, { project, input }) => {
  const { token, rtCode } = input.body;
  const refreshToken = await exchangeCode(projectScope(project.id), rtCode, token);
  return respond(route, { success: true, data: { refreshToken }, message: 'Refresh token exchanged successfully' });
});
