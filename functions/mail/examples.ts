import { defineExamples } from '../../shared/http/openapi/example.ts';
import { mailRoutes } from './routes.ts';

/** For the API description: a successful request for each route. */
export const mailExamples = defineExamples(mailRoutes, {
  'send-mail': {
    headers: { 'idempotency-key': 'welcome-6743f0c2a91b5d0012ab34ce' },
    body: { to: 'ada@example.com', subject: 'Welcome', text: 'Good to have you.', html: '<p>Good to have you.</p>' },
    failures: ['INVALID_MAIL', 'TEMPLATE_NOT_FOUND', 'EMAIL_NOT_VERIFIED', 'MAIL_QUOTA_EXCEEDED'],
  },
  'send-batch': {
    headers: { 'idempotency-key': 'news-2026-11' },
    body: [
      { to: 'ada@example.com', subject: 'News', text: 'There is something new.' },
      { to: ['grace@example.com', 'Alan <alan@example.com>'], subject: 'News', html: '<p>There is something new.</p>' },
    ],
    failures: ['INVALID_MAIL', 'EMAIL_NOT_VERIFIED', 'MAIL_QUOTA_EXCEEDED'],
  },
  'list-mail-logs': {},
  'get-mail-log': {
    params: { providerId: '6743f0c2a91b5d0012ab34cf' },
    failures: ['MAIL_LOG_NOT_FOUND', 'MAIL_PROVIDER_FAILED', 'MAIL_PROVIDER_UNAVAILABLE'],
  },
});
