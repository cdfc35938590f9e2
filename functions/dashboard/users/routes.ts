import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { IdAnswer } from '../../schemas.ts';
import { SecurityAnswer } from '../../user-auth/schemas.ts';
import { PageQuery } from '../schemas.ts';
import { NewUserBody, SessionPage, UserAnswer, UserChangesBody, UserPage, UsersQuery } from './schemas.ts';

/** End users of a project and their sessions (contract 6). */
export const dashboardUserRoutes = defineProjectRoutes('users', {
  'list-users': {
    method: 'GET',
    path: '/api/projects/{projectId}/users',
    summary: 'List users, newest first, or those whose email begins with a text',
    query: UsersQuery,
    response: { status: 200, body: UserPage },
  },
  'create-user': {
    method: 'POST',
    path: '/api/projects/{projectId}/users',
    summary: 'Create a user',
    body: NewUserBody,
    response: { status: 201, body: UserAnswer },
  },
  'get-user': {
    method: 'GET',
    path: '/api/projects/{projectId}/users/{id}',
    summary: 'Get a user',
    response: { status: 200, body: UserAnswer },
  },
  'get-user-security': {
    method: 'GET',
    path: '/api/projects/{projectId}/users/{id}/security',
    summary: 'List the sign-in methods of a user',
    response: { status: 200, body: SecurityAnswer },
  },
  'update-user': {
    method: 'PATCH',
    path: '/api/projects/{projectId}/users/{id}',
    summary: 'Update or disable a user, or set their password',
    body: UserChangesBody,
    response: { status: 200, body: UserAnswer },
  },
  'delete-user': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/users/{id}',
    summary: 'Delete a user and end their sessions',
    response: { status: 200, body: IdAnswer },
  },
  'list-user-sessions': {
    method: 'GET',
    path: '/api/projects/{projectId}/users/{id}/sessions',
    summary: 'List the sessions of a user',
    query: PageQuery,
    response: { status: 200, body: SessionPage },
  },
  'revoke-user-sessions': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/users/{id}/sessions',
    summary: 'End all sessions of a user',
    response: { status: 200, body: IdAnswer },
  },
  'revoke-user-session': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/users/{id}/sessions/{sessionId}',
    summary: 'End one session of a user',
    response: { status: 200, body: IdAnswer },
  },
});
