import type { ErrorCode } from '../../../shared/core/errors.ts';
import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { audienceRoutes } from './routes.ts';

/** Where the provider's own refusals come through. */
export const providerFailures: readonly ErrorCode[] = [
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
export const contactId = 'e169aa45-1ecf-4183-9955-b1499d5701d3';
const failures = providerFailures;

export const newContact = { email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace', unsubscribed: false };

/** For the API description: a successful request for each route. */
export const audienceExamples = defineExamples(audienceRoutes, {
  'list-audiences': { query: { limit: '20' }, failures },
  'create-audience': { body: { name: 'Readers' }, failures },
  'delete-audience': { params: { audienceId }, failures },
  'list-contacts': { params: { audienceId }, query: { limit: '20' }, failures },
  'create-contact': { params: { audienceId }, body: newContact, failures },
  'update-contact': { params: { audienceId, contactId }, body: { unsubscribed: true }, failures },
  'delete-contact': { params: { audienceId, contactId }, failures },
});
