import { ownedProjectEndpoint } from '../../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../../shared/http/reply.ts';
import { createAudience } from '../../../../shared/mail/audiences.ts';
import { dashboardAudienceRoutes } from './routes.ts';

const route = dashboardAudienceRoutes['create-project-audience'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await createAudience(owned.project, input.body);
  return respond(route, { success: true, data, message: 'Audience created successfully.' });
});
