import { ownedProjectEndpoint } from '../../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../../shared/http/reply.ts';
import { listAudiences } from '../../../../shared/mail/audiences.ts';
import { dashboardAudienceRoutes } from './routes.ts';

const route = dashboardAudienceRoutes['list-project-audiences'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await listAudiences(owned.project, input.query);
  return respond(route, { success: true, data, message: 'Audiences fetched successfully.' });
});
