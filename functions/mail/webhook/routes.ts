import { defineRoutes } from '../../../shared/http/route.ts';
import { DoneAnswer } from '../../schemas.ts';

/** What the mail provider calls. */
export const webhookRoutes = defineRoutes({
  'receive-webhook': {
    method: 'POST',
    path: '/api/mail/webhook',
    access: 'public',
    ownUrl: true,
    summary: 'Receive a delivery event from the mail provider',
    response: { status: 200, body: DoneAnswer },
  },
  'receive-project-webhook': {
    method: 'POST',
    path: '/api/mail/webhook/{projectId}',
    access: 'public',
    summary: "Receive a delivery event from the project's own mail provider account",
    response: { status: 200, body: DoneAnswer },
  },
});
