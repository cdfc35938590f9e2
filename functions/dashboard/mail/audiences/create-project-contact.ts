import { ownedProjectEndpoint } from '../../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../../shared/http/reply.ts';
import { createContact } from '../../../../shared/mail/audiences.ts';
import { dashboardAudienceRoutes } from './routes.ts';

const route = dashboardAudienceRoutes['create-project-contact'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await createContact(owned.project, input.params.audienceId, input.body);
  return respond(route, { success: true, data, message: 'Contact created successfully.' });
});
