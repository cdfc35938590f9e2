import { defineRoutesFor } from '../../../shared/http/route.ts';
import { audienceId, providerErrors } from '../audiences/routes.ts';
import { PartQuery, ProviderAnswer } from '../audiences/schemas.ts';
import { NewBroadcastBody } from './schemas.ts';

export const newBroadcast = {
  audienceId,
  subject: 'What is new',
  html: '<p>There is something new.</p>',
  from: 'Basalt <news@example.com>',
};

export const broadcastRoutes = defineRoutesFor('secretKey', {
  'create-broadcast': {
    method: 'POST',
    path: '/api/mail/broadcasts',
    repeats: 'unknown',
    summary: 'Create a draft or scheduled broadcast',
    body: NewBroadcastBody,
    response: { status: 201, body: ProviderAnswer },
    example: { body: newBroadcast },
    errors: providerErrors,
  },
  'send-broadcast': {
    method: 'POST',
    path: '/api/mail/broadcasts/{id}/send',
    repeats: 'unknown',
    summary: 'Send a broadcast now',
    response: { status: 200, body: ProviderAnswer },
    errors: [...providerErrors, 'MAIL_QUOTA_EXCEEDED'],
  },
  'list-broadcasts': {
    method: 'GET',
    path: '/api/mail/broadcasts',
    summary: 'List broadcasts',
    query: PartQuery,
    response: { status: 200, body: ProviderAnswer },
    errors: providerErrors,
  },
  'get-broadcast': {
    method: 'GET',
    path: '/api/mail/broadcasts/{id}',
    summary: 'Get a broadcast',
    response: { status: 200, body: ProviderAnswer },
    errors: providerErrors,
  },
  'delete-broadcast': {
    method: 'DELETE',
    path: '/api/mail/broadcasts/{id}',
    repeats: 'unknown',
    summary: 'Delete a broadcast that has not been sent',
    response: { status: 200, body: ProviderAnswer },
    errors: providerErrors,
  },
});
