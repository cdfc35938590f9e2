import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { webhookRoutes } from './routes.ts';

const headers = {
  'svix-id': 'msg_2b3c4d5e6f',
  'svix-timestamp': '1790000000',
  'svix-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
};

const body = {
  type: 'email.delivered',
  created_at: '2026-11-21T10:15:00.000Z',
  data: { email_id: '56761188-7520-42d8-8898-ff6fc54ce618', to: ['ada@example.com'], subject: 'Welcome' },
};

/** For the API description: a successful request for each route. */
export const webhookExamples = defineExamples(webhookRoutes, {
  'receive-webhook': { headers, body, failures: ['INVALID_SIGNATURE', 'BODY_TOO_LARGE'] },
  'receive-project-webhook': {
    params: { projectId: '6743f0c2a91b5d0012ab34cd' },
    headers,
    body,
    failures: ['INVALID_SIGNATURE', 'BODY_TOO_LARGE'],
  },
});
