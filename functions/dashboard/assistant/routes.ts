import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { ProposalAnswer, ProposalBody } from './schemas.ts';

export const dashboardAssistantRoutes = defineProjectRoutes('schema-assistant', {
  'propose-schema': {
    method: 'POST',
    path: '/api/projects/{projectId}/schema-assistant',
    audit: false,
    summary: 'Propose a schema for data described in words; nothing is created',
    body: ProposalBody,
    response: { status: 200, body: ProposalAnswer },
    example: { body: { prompt: 'Orders of a shop, with their lines and whether they are paid' } },
    errors: ['ASSISTANT_QUOTA_EXCEEDED', 'ASSISTANT_FAILED', 'ASSISTANT_UNAVAILABLE', 'NOT_SET_UP'],
  },
});
