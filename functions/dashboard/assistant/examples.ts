import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardAssistantRoutes } from './routes.ts';

/** For the API description: a successful request for each route. */
export const dashboardAssistantExamples = defineExamples(dashboardAssistantRoutes, {
  'propose-schema': {
    params: { projectId: '6743f0c2a91b5d0012ab34cd' },
    body: { prompt: 'Orders of a shop, with their lines and whether they are paid' },
    failures: ['ASSISTANT_QUOTA_EXCEEDED', 'ASSISTANT_FAILED', 'ASSISTANT_UNAVAILABLE', 'NOT_SET_UP'],
  },
});
