import { defineRoutesFor } from '../../../shared/http/route.ts';
import { ContactChangesBody, NewAudienceBody, NewContactBody, PartQuery, ProviderAnswer } from './schemas.ts';

/**
 * Audiences and their contacts, in the project's own account at the mail provider, in the order of the specification.
 */
export const audienceRoutes = defineRoutesFor('secretKey', {
  'list-audiences': {
    method: 'GET',
    path: '/api/mail/audiences',
    summary: 'List audiences',
    query: PartQuery,
    response: { status: 200, body: ProviderAnswer },
  },
  'create-audience': {
    method: 'POST',
    path: '/api/mail/audiences',
    repeats: 'unknown',
    summary: 'Create an audience',
    body: NewAudienceBody,
    response: { status: 201, body: ProviderAnswer },
  },
  'delete-audience': {
    method: 'DELETE',
    path: '/api/mail/audiences/{audienceId}',
    repeats: 'unknown',
    summary: 'Delete an audience',
    response: { status: 200, body: ProviderAnswer },
  },
  'list-contacts': {
    method: 'GET',
    path: '/api/mail/audiences/{audienceId}/contacts',
    summary: 'List the contacts of an audience',
    query: PartQuery,
    response: { status: 200, body: ProviderAnswer },
  },
  'create-contact': {
    method: 'POST',
    path: '/api/mail/audiences/{audienceId}/contacts',
    repeats: 'unknown',
    summary: 'Add a contact to an audience',
    body: NewContactBody,
    response: { status: 201, body: ProviderAnswer },
  },
  'update-contact': {
    method: 'PATCH',
    path: '/api/mail/audiences/{audienceId}/contacts/{contactId}',
    repeats: 'unknown',
    summary: 'Update a contact',
    body: ContactChangesBody,
    response: { status: 200, body: ProviderAnswer },
  },
  'delete-contact': {
    method: 'DELETE',
    path: '/api/mail/audiences/{audienceId}/contacts/{contactId}',
    repeats: 'unknown',
    summary: 'Remove a contact from an audience',
    response: { status: 200, body: ProviderAnswer },
  },
});
