import { defineProjectRoutes } from '../../../../shared/http/route.ts';
import { newContact, providerErrors } from '../../../mail/audiences/routes.ts';
import {
  ContactChangesBody,
  NewAudienceBody,
  NewContactBody,
  PartQuery,
  ProviderAnswer,
} from '../../../mail/audiences/schemas.ts';

export const dashboardAudienceRoutes = defineProjectRoutes('mail', {
  'list-project-audiences': {
    method: 'GET',
    path: '/api/projects/{projectId}/mail/audiences',
    summary: 'List audiences of the project',
    query: PartQuery,
    response: { status: 200, body: ProviderAnswer },
    errors: providerErrors,
  },
  'create-project-audience': {
    method: 'POST',
    path: '/api/projects/{projectId}/mail/audiences',
    summary: 'Create an audience of the project',
    body: NewAudienceBody,
    response: { status: 201, body: ProviderAnswer },
    example: { body: { name: 'Readers' } },
    errors: providerErrors,
  },
  'delete-project-audience': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/mail/audiences/{audienceId}',
    summary: 'Delete an audience of the project',
    response: { status: 200, body: ProviderAnswer },
    errors: providerErrors,
  },
  'list-project-contacts': {
    method: 'GET',
    path: '/api/projects/{projectId}/mail/audiences/{audienceId}/contacts',
    summary: 'List the contacts of an audience of the project',
    query: PartQuery,
    response: { status: 200, body: ProviderAnswer },
    errors: providerErrors,
  },
  'create-project-contact': {
    method: 'POST',
    path: '/api/projects/{projectId}/mail/audiences/{audienceId}/contacts',
    summary: 'Add a contact to an audience of the project',
    body: NewContactBody,
    response: { status: 201, body: ProviderAnswer },
    example: { body: newContact },
    errors: providerErrors,
  },
  'update-project-contact': {
    method: 'PATCH',
    path: '/api/projects/{projectId}/mail/audiences/{audienceId}/contacts/{contactId}',
    summary: 'Update a contact of the project',
    body: ContactChangesBody,
    response: { status: 200, body: ProviderAnswer },
    example: { body: { unsubscribed: true } },
    errors: providerErrors,
  },
  'delete-project-contact': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/mail/audiences/{audienceId}/contacts/{contactId}',
    summary: 'Remove a contact from an audience of the project',
    response: { status: 200, body: ProviderAnswer },
    errors: providerErrors,
  },
});
