import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { ProjectAnswer } from '../projects/schemas.ts';
import { DatabaseAnswer, DatabaseUriBody } from './schemas.ts';

/** A database of the project's own (contract 7). */
export const dashboardDatabaseRoutes = defineProjectRoutes('database', {
  'get-database': {
    method: 'GET',
    path: '/api/projects/{projectId}/database',
    summary: 'Show where the documents live, and which addresses an own database has to let in',
    response: { status: 200, body: DatabaseAnswer },
  },
  'connect-database': {
    method: 'PUT',
    path: '/api/projects/{projectId}/database',
    handsOut: ['documents:read', 'documents:write'],
    summary: 'Connect a MongoDB of one’s own, or another one, after it was verified from two addresses',
    body: DatabaseUriBody,
    response: { status: 200, body: ProjectAnswer },
  },
  'disconnect-database': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/database',
    summary: 'Go back to the database of the service',
    response: { status: 200, body: ProjectAnswer },
  },
});
