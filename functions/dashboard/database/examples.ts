import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardDatabaseRoutes } from './routes.ts';

const projectId = '6743f0c2a91b5d0012ab34cd';

/** For the API description: a successful request for each route. */
export const dashboardDatabaseExamples = defineExamples(dashboardDatabaseRoutes, {
  'get-database': { params: { projectId } },
  'connect-database': {
    params: { projectId },
    body: { uri: 'mongodb+srv://app:password@cluster0.example.mongodb.net/shop' },
    failures: [
      'DATABASE_URI_RESTRICTED',
      'DATABASE_ACCESS_DENIED',
      'DATABASE_NOT_CONNECTED',
      'DATABASE_NOT_VERIFIED',
      'SCHEMA_CONFLICT',
    ],
  },
  'disconnect-database': { params: { projectId } },
});
