import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { PageQuery } from '../schemas.ts';
import { AuditPage } from './schemas.ts';

export const dashboardAuditRoutes = defineProjectRoutes('audit', {
  'list-audit-entries': {
    method: 'GET',
    path: '/api/projects/{projectId}/audit',
    summary: 'List the audit trail of the last year, newest first',
    query: PageQuery,
    response: { status: 200, body: AuditPage },
  },
});
