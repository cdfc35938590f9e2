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
    summary: 'List end users, newest first; those with an address that begins so, by address',
    query: UsersQuery,
    response: { status: 200, body: UserPage },
  },
  'create-user': {
    method: 'POST',
    path: '/api/projects/{projectId}/users',
    summary: 'Create an end user',
    body: NewUserBody,
    response: { status: 201, body: UserAnswer },
  },
  'get-user': {
    method: 'GET',
    path: '/api/projects/{projectId}/users/{id}',
    summary: 'Read an end user',
    response: { status: 200, body: UserAnswer },
  },
  'get-user-security': {
    method: 'GET',
    path: '/api/projects/{projectId}/users/{id}/security',
    summary: 'List with what an end user may sign in',
    response: { status: 200, body: SecurityAnswer },
  },
  'update-user': {
    method: 'PATCH',
    path: '/api/projects/{projectId}/users/{id}',
    summary: 'Change, disable or give another password to an end user',
    body: UserChangesBody,
    response: { status: 200, body: UserAnswer },
  },
  'delete-user': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/users/{id}',
    summary: 'Delete an end user and end his sessions',
    response: { status: 200, body: IdAnswer },
  },
  'list-user-sessions': {
    method: 'GET',
    path: '/api/projects/{projectId}/users/{id}/sessions',
    summary: 'List the sessions of an end user',
    query: PageQuery,
    response: { status: 200, body: SessionPage },
  },
  'revoke-user-sessions': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/users/{id}/sessions',
    summary: 'End all sessions of an end user',
    response: { status: 200, body: IdAnswer },
  },
  'revoke-user-session': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/users/{id}/sessions/{sessionId}',
    summary: 'End one session of an end user',
    response: { status: 200, body: IdAnswer },
  },
});
