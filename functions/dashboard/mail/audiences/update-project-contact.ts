import { ownedProjectEndpoint } from '../../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../../shared/http/reply.ts';
import { updateContact } from '../../../../shared/mail/audiences.ts';
import { dashboardAudienceRoutes } from './routes.ts';

const route = dashboardAudienceRoutes['update-project-contact'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { audienceId, contactId } = input.params;
  const data = await updateContact(owned.project, audienceId, contactId, input.body);
  return respond(route, { success: true, data, message: 'Contact updated successfully.' });
});
