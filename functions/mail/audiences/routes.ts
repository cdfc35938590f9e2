import type { ErrorCode } from '../../../shared/core/errors.ts';
import { defineRoutesFor } from '../../../shared/http/route.ts';
import { ContactChangesBody, NewAudienceBody, NewContactBody, PartQuery, ProviderAnswer } from './schemas.ts';

/** The mail provider's own errors, passed through. */
export const providerErrors: readonly ErrorCode[] = [
  'OWN_MAIL_KEY_REQUIRED',
  'MAIL_PROVIDER_BAD_REQUEST',
  'MAIL_PROVIDER_UNAUTHORIZED',
  'MAIL_PROVIDER_FORBIDDEN',
  'MAIL_PROVIDER_NOT_FOUND',
  'MAIL_PROVIDER_CONFLICT',
  'MAIL_PROVIDER_UNPROCESSABLE',
  'MAIL_PROVIDER_RATE_LIMITED',
  'MAIL_PROVIDER_FAILED',
  'MAIL_PROVIDER_UNAVAILABLE',
];
export const audienceId = '78261eea-8f8b-4381-83c6-79fa7120f1cf';
export const newContact = { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace', unsubscribed: false };

/** In the project's own account at the mail provider; in the order of the specification. */
export const audienceRoutes = defineRoutesFor('secretKey', {
  'list-audiences': {
    method: 'GET',
    path: '/api/mail/audiences',
    summary: 'List audiences',
    query: PartQuery,
    response: { status: 200, body: ProviderAnswer },
    errors: providerErrors,
  },
  'create-audience': {
    method: 'POST',
    path: '/api/mail/audiences',
    repeats: 'unknown',
    summary: 'Create an audience',
    body: NewAudienceBody,
    response: { status: 201, body: ProviderAnswer },
    example: { body: { name: 'Readers' } },
    errors: providerErrors,
  },
  'delete-audience': {
    method: 'DELETE',
    path: '/api/mail/audiences/{audienceId}',
    repeats: 'unknown',
    summary: 'Delete an audience',
    response: { status: 200, body: ProviderAnswer },
    errors: providerErrors,
  },
  'list-contacts': {
    method: 'GET',
    path: '/api/mail/audiences/{audienceId}/contacts',
    summary: 'List the contacts of an audience',
    query: PartQuery,
    response: { status: 200, body: ProviderAnswer },
    errors: providerErrors,
  },
  'create-contact': {
    method: 'POST',
    path: '/api/mail/audiences/{audienceId}/contacts',
    repeats: 'unknown',
    summary: 'Add a contact to an audience',
    body: NewContactBody,
    response: { status: 201, body: ProviderAnswer },
    example: { body: newContact },
    errors: providerErrors,
  },
  'update-contact': {
    method: 'PATCH',
    path: '/api/mail/audiences/{audienceId}/contacts/{contactId}',
    repeats: 'unknown',
    summary: 'Update a contact',
    body: ContactChangesBody,
    response: { status: 200, body: ProviderAnswer },
    example: { body: { unsubscribed: true } },
    errors: providerErrors,
  },
  'delete-contact': {
    method: 'DELETE',
    path: '/api/mail/audiences/{audienceId}/contacts/{contactId}',
    repeats: 'unknown',
    summary: 'Remove a contact from an audience',
    response: { status: 200, body: ProviderAnswer },
    errors: providerErrors,
  },
});
