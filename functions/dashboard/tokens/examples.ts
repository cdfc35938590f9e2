import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardTokenRoutes } from './routes.ts';

/** For the API description: a successful request for each route. */
export const dashboardTokenExamples = defineExamples(dashboardTokenRoutes, {
  'list-tokens': { query: { page: '1', limit: '20' } },
  'create-token': {
    body: { name: 'Nightly import', scopes: ['documents:read', 'documents:write'], expiresInDays: 30 },
    failures: ['LIMIT_REACHED'],
  },
  'revoke-token': { params: { id: '6743f0c2a91b5d0012ab34d3' }, failures: ['TOKEN_NOT_FOUND'] },
});
