import { newSigningKey } from '../../../shared/accounts/tokens.ts';
import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { rotateSigningKey } from '../../../shared/projects/keys.ts';
import { dashboardProjectRoutes } from './routes.ts';

const route = dashboardProjectRoutes['rotate-signing-key'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned }) => {
  const data = await rotateSigningKey(owned, newSigningKey);
  return respond(route, {
    success: true,
    data,
    message: 'Signing key rotated. The new key is published now and signs in 20 minutes.',
  });
});
