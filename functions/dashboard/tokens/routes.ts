import { defineRoutes } from '../../../shared/http/route.ts';
import { IdAnswer } from '../../schemas.ts';
import { PageQuery } from '../schemas.ts';
import { NewTokenAnswer, NewTokenBody, TokenPage } from './schemas.ts';

/** Need a session; personal access tokens are rejected. */
export const dashboardTokenRoutes = defineRoutes({
  'list-tokens': {
    method: 'GET',
    path: '/api/auth/tokens',
    access: 'developer',
    summary: 'List personal access tokens, newest first',
    query: PageQuery,
    response: { status: 200, body: TokenPage },
  },
  'create-token': {
    method: 'POST',
    path: '/api/auth/tokens',
    access: 'developer',
    summary: 'Create a personal access token; it is shown only once',
    body: NewTokenBody,
    response: { status: 201, body: NewTokenAnswer },
    example: { body: { name: 'Nightly import', scopes: ['documents:read', 'documents:write'], expiresInDays: 30 } },
    errors: ['LIMIT_REACHED'],
  },
  'revoke-token': {
    method: 'DELETE',
    path: '/api/auth/tokens/{id}',
    access: 'developer',
    summary: 'Revoke a personal access token immediately',
    response: { status: 200, body: IdAnswer },
    errors: ['TOKEN_NOT_FOUND'],
  },
});
