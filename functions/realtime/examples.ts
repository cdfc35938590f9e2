import { defineExamples } from '../../shared/http/openapi/example.ts';
import { realtimeRoutes } from './routes.ts';

/** For the API description: a successful request for each route. */
export const realtimeExamples = defineExamples(realtimeRoutes, {
  'create-ticket': {
    body: { collections: ['posts'] },
    failures: [
      'COLLECTION_NOT_FOUND',
      'USERS_RESERVED',
      'CHANGES_NOT_ENABLED',
      'TOKEN_MISSING',
      'TOKEN_INVALID',
      'MFA_REQUIRED',
    ],
  },
});
