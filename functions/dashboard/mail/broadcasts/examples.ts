import { defineExamples } from '../../../../shared/http/openapi/example.ts';
import { providerFailures as failures } from '../../../mail/audiences/examples.ts';
import { broadcastId as id, newBroadcast } from '../../../mail/broadcasts/examples.ts';
import { dashboardBroadcastRoutes } from './routes.ts';

const projectId = '6743f0c2a91b5d0012ab34cd';

/** For the API description: a successful request for each route. */
export const dashboardBroadcastExamples = defineExamples(dashboardBroadcastRoutes, {
  'create-project-broadcast': { params: { projectId }, body: newBroadcast, failures },
  'send-project-broadcast': { params: { projectId, id }, failures: [...failures, 'MAIL_QUOTA_EXCEEDED'] },
  'list-project-broadcasts': { params: { projectId }, query: { limit: '20' }, failures },
  'get-project-broadcast': { params: { projectId, id }, failures },
  'delete-project-broadcast': { params: { projectId, id }, failures },
});
