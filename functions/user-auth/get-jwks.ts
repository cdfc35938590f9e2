import { getJwks, jwksMaxAgeSeconds } from '../../shared/accounts/tokens.ts';
import { publicEndpoint } from '../../shared/http/endpoint.ts';
import { respondExactly } from '../../shared/http/reply.ts';
import { requireProject } from '../../shared/projects/find-project.ts';
import { userAuthRoutes } from './routes.ts';

const route = userAuthRoutes['get-jwks'];

export const handler = publicEndpoint(route).handler(async (_event, { input }) => {
  const project = await requireProject(input.params.projectId);
  return respondExactly(route, getJwks(project), { maxAgeSeconds: jwksMaxAgeSeconds });
});
