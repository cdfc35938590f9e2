import { defineProjectRoutes } from '../../../shared/http/route.ts';
import {
  DayQuery,
  MissingIndexesAnswer,
  RefusalsAnswer,
  RefusalsQuery,
  RequestsAnswer,
  UsageAnswer,
} from './schemas.ts';

export const dashboardUsageRoutes = defineProjectRoutes('usage', {
  'get-usage': {
    method: 'GET',
    path: '/api/projects/{projectId}/usage',
    summary: 'Get the usage of the project and the limits of its plan',
    response: { status: 200, body: UsageAnswer },
  },
  'get-request-stats': {
    method: 'GET',
    path: '/api/projects/{projectId}/usage/requests',
    summary: 'Get requests of a day by route, status and hour with latencies, or a summary of up to 31 days',
    query: DayQuery,
    response: { status: 200, body: RequestsAnswer },
    example: { query: { day: '2026-11-21', days: '30', hours: 'true' } },
  },
  'list-missing-indexes': {
    method: 'GET',
    path: '/api/projects/{projectId}/usage/missing-indexes',
    summary: 'List slow queries and the indexes that would help',
    response: { status: 200, body: MissingIndexesAnswer },
  },
  'list-refusals': {
    method: 'GET',
    path: '/api/projects/{projectId}/refusals',
    summary: 'List the rejected requests of the last 7 days, newest first',
    query: RefusalsQuery,
    response: { status: 200, body: RefusalsAnswer },
    example: { query: { code: 'RULE_DENIED', limit: '20' } },
  },
});
