import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { ProjectAnswer } from '../projects/schemas.ts';
import { DatabaseAnswer, DatabaseUriBody } from './schemas.ts';

export const dashboardDatabaseRoutes = defineProjectRoutes('database', {
  'get-database': {
    method: 'GET',
    path: '/api/projects/{projectId}/database',
    summary: 'Get the database of the project, and the addresses that your own database must allow',
    response: { status: 200, body: DatabaseAnswer },
  },
  'connect-database': {
    method: 'PUT',
    path: '/api/projects/{projectId}/database',
    handsOut: ['documents:read', 'documents:write'],
    summary: 'Connect your own MongoDB, after verification from two addresses',
    body: DatabaseUriBody,
    response: { status: 200, body: ProjectAnswer },
    example: { body: { uri: 'mongodb+srv://app:password@cluster0.example.mongodb.net/shop' } },
    errors: [
      'DATABASE_URI_RESTRICTED',
      'DATABASE_ACCESS_DENIED',
      'DATABASE_NOT_CONNECTED',
      'DATABASE_NOT_VERIFIED',
      'SCHEMA_CONFLICT',
    ],
  },
  'disconnect-database': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/database',
    summary: 'Disconnect your own database and use the hosted one',
    response: { status: 200, body: ProjectAnswer },
  },
});
