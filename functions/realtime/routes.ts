import { defineRoutes } from '../../shared/http/route.ts';
import { TicketAnswer, TicketBody } from './schemas.ts';

export const realtimeRoutes = defineRoutes({
  'create-ticket': {
    method: 'POST',
    path: '/api/realtime/tickets',
    access: 'anyKey',
    summary: 'Get a connection token for live updates of collections and presence in rooms',
    body: TicketBody,
    response: { status: 201, body: TicketAnswer },
    example: { body: { collections: ['posts'] } },
    errors: [
      'COLLECTION_NOT_FOUND',
      'DOCUMENT_NOT_FOUND',
      'INVALID_ID',
      'USERS_RESERVED',
      'CHANGES_NOT_ENABLED',
      'INVALID_QUERY',
      'RULE_DENIED',
      'TOKEN_MISSING',
      'TOKEN_INVALID',
      'MFA_REQUIRED',
    ],
  },
});
