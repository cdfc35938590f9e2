import { ownedProjectEndpoint } from '../../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../../shared/http/reply.ts';
import { deleteContact } from '../../../../shared/mail/audiences.ts';
import { dashboardAudienceRoutes } from './routes.ts';

const route = dashboardAudienceRoutes['delete-project-contact'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const { audienceId, contactId } = input.params;
  const data = await deleteContact(owned.project, audienceId, contactId);
  return respond(route, { success: true, data, message: 'Contact deleted successfully.' });
});
