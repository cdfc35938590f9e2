import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { DayQuery, MissingIndexesAnswer, RequestsAnswer, UsageAnswer } from './schemas.ts';

/** What a project uses, what is asked of it, and what would make it faster (contract 6). */
export const dashboardUsageRoutes = defineProjectRoutes('usage', {
  'get-usage': {
    method: 'GET',
    path: '/api/projects/{projectId}/usage',
    summary: 'Read what the project uses of its plan',
    response: { status: 200, body: UsageAnswer },
  },
  'get-request-stats': {
    method: 'GET',
    path: '/api/projects/{projectId}/usage/requests',
    summary: 'Read the requests of a day, by route and status, with their latencies; of up to 31 days in short',
    query: DayQuery,
    response: { status: 200, body: RequestsAnswer },
  },
  'list-missing-indexes': {
    method: 'GET',
    path: '/api/projects/{projectId}/usage/missing-indexes',
    summary: 'List slow lists and the indexes that would serve them',
    response: { status: 200, body: MissingIndexesAnswer },
  },
});
