import { defineProjectRoutes } from '../../../../shared/http/route.ts';
import { providerErrors } from '../../../mail/audiences/routes.ts';
import { PartQuery, ProviderAnswer } from '../../../mail/audiences/schemas.ts';
import { newBroadcast } from '../../../mail/broadcasts/routes.ts';
import { NewBroadcastBody } from '../../../mail/broadcasts/schemas.ts';

export const dashboardBroadcastRoutes = defineProjectRoutes('mail', {
  'create-project-broadcast': {
    method: 'POST',
    path: '/api/projects/{projectId}/mail/broadcasts',
    summary: 'Create a draft or scheduled broadcast of the project',
    body: NewBroadcastBody,
    response: { status: 201, body: ProviderAnswer },
    example: { body: newBroadcast },
    errors: providerErrors,
  },
  'send-project-broadcast': {
    method: 'POST',
    path: '/api/projects/{projectId}/mail/broadcasts/{id}/send',
    summary: 'Send a broadcast of the project now',
    response: { status: 200, body: ProviderAnswer },
    errors: [...providerErrors, 'MAIL_QUOTA_EXCEEDED'],
  },
  'list-project-broadcasts': {
    method: 'GET',
    path: '/api/projects/{projectId}/mail/broadcasts',
    summary: 'List broadcasts of the project',
    query: PartQuery,
    response: { status: 200, body: ProviderAnswer },
    errors: providerErrors,
  },
  'get-project-broadcast': {
    method: 'GET',
    path: '/api/projects/{projectId}/mail/broadcasts/{id}',
    summary: 'Get a broadcast of the project',
    response: { status: 200, body: ProviderAnswer },
    errors: providerErrors,
  },
  'delete-project-broadcast': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/mail/broadcasts/{id}',
    summary: 'Delete a broadcast of the project that has not been sent',
    response: { status: 200, body: ProviderAnswer },
    errors: providerErrors,
  },
});
