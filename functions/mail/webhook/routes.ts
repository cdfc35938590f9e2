import { defineRoutes } from '../../../shared/http/route.ts';
import { DoneAnswer } from '../../schemas.ts';

/** What the mail provider calls. */
export const webhookRoutes = defineRoutes({
  'receive-webhook': {
    method: 'POST',
    path: '/api/mail/webhook',
    access: 'public',
    ownUrl: true,
    summary: 'Take a delivery event of the mail provider',
    response: { status: 200, body: DoneAnswer },
  },
  'receive-project-webhook': {
    method: 'POST',
    path: '/api/mail/webhook/{projectId}',
    access: 'public',
    summary: 'Take a delivery event of the account that a project has at the mail provider',
    response: { status: 200, body: DoneAnswer },
  },
});
