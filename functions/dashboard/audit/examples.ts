import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardAuditRoutes } from './routes.ts';

/** For the API description: a successful request for each route. */
export const dashboardAuditExamples = defineExamples(dashboardAuditRoutes, {
  'list-audit-entries': { params: { projectId: '6743f0c2a91b5d0012ab34cd' }, query: { page: '1', limit: '20' } },
});
