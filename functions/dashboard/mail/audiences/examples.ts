import { defineExamples } from '../../../../shared/http/openapi/example.ts';
import { audienceId, contactId, providerFailures as failures, newContact } from '../../../mail/audiences/examples.ts';
import { dashboardAudienceRoutes } from './routes.ts';

const projectId = '6743f0c2a91b5d0012ab34cd';
const query = { limit: '20' };

/** For the API description: a successful request for each route. */
export const dashboardAudienceExamples = defineExamples(dashboardAudienceRoutes, {
  'list-project-audiences': { params: { projectId }, query, failures },
  'create-project-audience': { params: { projectId }, body: { name: 'Readers' }, failures },
  'delete-project-audience': { params: { projectId, audienceId }, failures },
  'list-project-contacts': { params: { projectId, audienceId }, query, failures },
  'create-project-contact': { params: { projectId, audienceId }, body: newContact, failures },
  'update-project-contact': { params: { projectId, audienceId, contactId }, body: { unsubscribed: true }, failures },
  'delete-project-contact': { params: { projectId, audienceId, contactId }, failures },
});
