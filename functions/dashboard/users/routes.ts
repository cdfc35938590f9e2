import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { IdAnswer } from '../../schemas.ts';
import { SecurityAnswer } from '../../user-auth/schemas.ts';
import { PageQuery } from '../schemas.ts';
import { NewUserBody, SessionPage, UserAnswer, UserChangesBody, UserPage, UsersQuery } from './schemas.ts';

export const dashboardUserRoutes = defineProjectRoutes('users', {
  'list-users': {
    method: 'GET',
    path: '/api/projects/{projectId}/users',
    summary: 'List users, newest first, those whose email begins with a text, or those with given ids',
    query: UsersQuery,
    response: { status: 200, body: UserPage },
    example: { query: { email: 'alan@' } },
    errors: ['RESULT_TOO_LARGE'],
  },
  'create-user': {
    method: 'POST',
    path: '/api/projects/{projectId}/users',
    summary: 'Create a user',
    body: NewUserBody,
    response: { status: 201, body: UserAnswer },
    example: { body: { email: 'alan@example.com', password: 'correct horse battery', name: 'Alan' } },
    errors: ['USER_EXISTS', 'DUPLICATE_VALUE', 'PLAN_LIMIT'],
  },
  'get-user': {
    method: 'GET',
    path: '/api/projects/{projectId}/users/{id}',
    summary: 'Get a user',
    response: { status: 200, body: UserAnswer },
    errors: ['USER_NOT_FOUND'],
  },
  'get-user-security': {
    method: 'GET',
    path: '/api/projects/{projectId}/users/{id}/security',
    summary: 'List the sign-in methods of a user',
    response: { status: 200, body: SecurityAnswer },
    errors: ['USER_NOT_FOUND'],
  },
  'update-user': {
    method: 'PATCH',
    path: '/api/projects/{projectId}/users/{id}',
    summary: 'Update or disable a user, or set their password',
    body: UserChangesBody,
    response: { status: 200, body: UserAnswer },
    example: { body: { name: 'Alan Turing', disabled: false } },
    errors: ['USER_NOT_FOUND', 'USER_EXISTS', 'DUPLICATE_VALUE', 'NOTHING_TO_UPDATE'],
  },
  'delete-user': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/users/{id}',
    summary: 'Delete a user and end their sessions',
    response: { status: 200, body: IdAnswer },
    errors: ['USER_NOT_FOUND', 'STILL_REFERENCED'],
  },
  'list-user-sessions': {
    method: 'GET',
    path: '/api/projects/{projectId}/users/{id}/sessions',
    summary: 'List the sessions of a user',
    query: PageQuery,
    response: { status: 200, body: SessionPage },
    errors: ['USER_NOT_FOUND'],
  },
  'revoke-user-sessions': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/users/{id}/sessions',
    summary: 'End all sessions of a user',
    response: { status: 200, body: IdAnswer },
    errors: ['USER_NOT_FOUND'],
  },
  'revoke-user-session': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/users/{id}/sessions/{sessionId}',
    summary: 'End one session of a user',
    response: { status: 200, body: IdAnswer },
    errors: ['USER_NOT_FOUND', 'SESSION_NOT_FOUND'],
  },
});
