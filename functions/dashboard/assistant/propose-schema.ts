import { ownedProjectEndpoint } from '../../../shared/http/dashboard-endpoint.ts';
import { respond } from '../../../shared/http/reply.ts';
import { proposeSchema } from '../../../shared/usage/assistant.ts';
import { dashboardAssistantRoutes } from './routes.ts';

const route = dashboardAssistantRoutes['propose-schema'];

export const handler = ownedProjectEndpoint(route).handler(async (_event, { owned, input }) => {
  const data = await proposeSchema(owned.project, input.body.prompt);
  return respond(route, { success: true, data, message: 'Schema proposed. Nothing has been created.' });
});
