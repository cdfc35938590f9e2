import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardUsageRoutes } from './routes.ts';

const params = { projectId: '6743f0c2a91b5d0012ab34cd' };

/** For the API description: a successful request for each route. */
export const dashboardUsageExamples = defineExamples(dashboardUsageRoutes, {
  'get-usage': { params },
  'get-request-stats': { params, query: { day: '2026-11-21', days: '30' } },
  'list-missing-indexes': { params },
});
