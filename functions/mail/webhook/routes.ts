import { defineRoutes } from '../../../shared/http/route.ts';
import { DoneAnswer } from '../../schemas.ts';

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

/** Called by the mail provider. */
export const webhookRoutes = defineRoutes({
  'receive-webhook': {
    method: 'POST',
    path: '/api/mail/webhook',
    access: 'public',
    ownUrl: true,
    summary: 'Receive a delivery event from the mail provider',
    response: { status: 200, body: DoneAnswer },
    example: { headers, body },
    errors: ['INVALID_SIGNATURE', 'BODY_TOO_LARGE'],
  },
  'receive-project-webhook': {
    method: 'POST',
    path: '/api/mail/webhook/{projectId}',
    access: 'public',
    summary: "Receive a delivery event from the project's own mail provider account",
    response: { status: 200, body: DoneAnswer },
    example: { headers, body },
    errors: ['INVALID_SIGNATURE', 'BODY_TOO_LARGE'],
  },
});
