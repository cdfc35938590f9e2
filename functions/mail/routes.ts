import { defineRoutesFor } from '../../shared/http/route.ts';
import {
  BatchAnswer,
  BatchBody,
  MailLogAnswer,
  MailLogsAnswer,
  MailLogsQuery,
  SendAnswer,
  SendBody,
} from './schemas.ts';

/** In the order of the specification. */
export const mailRoutes = defineRoutesFor('secretKey', {
  'send-mail': {
    method: 'POST',
    path: '/api/mail/send',
    repeats: 'by id',
    summary: 'Queue an email, with its own content or from a template',
    body: SendBody,
    response: { status: 200, body: SendAnswer },
    example: {
      headers: { 'idempotency-key': 'welcome-6743f0c2a91b5d0012ab34ce' },
      body: { to: 'ada@example.com', subject: 'Welcome', text: 'Good to have you.', html: '<p>Good to have you.</p>' },
    },
    errors: ['INVALID_MAIL', 'TEMPLATE_NOT_FOUND', 'EMAIL_NOT_VERIFIED', 'MAIL_QUOTA_EXCEEDED'],
  },
  'send-batch': {
    method: 'POST',
    path: '/api/mail/send-batch',
    repeats: 'by id',
    summary: 'Send 1 to 100 emails in one call to the provider',
    body: BatchBody,
    response: { status: 200, body: BatchAnswer },
    example: {
      headers: { 'idempotency-key': 'news-2026-11' },
      body: [
        { to: 'ada@example.com', subject: 'News', text: 'There is something new.' },
        {
          to: ['grace@example.com', 'Alan <alan@example.com>'],
          subject: 'News',
          html: '<p>There is something new.</p>',
        },
      ],
    },
    errors: ['INVALID_MAIL', 'EMAIL_NOT_VERIFIED', 'MAIL_QUOTA_EXCEEDED'],
  },
  'list-mail-logs': {
    method: 'GET',
    path: '/api/mail/logs',
    summary: 'List the latest 50 emails and their status',
    query: MailLogsQuery,
    response: { status: 200, body: MailLogsAnswer },
  },
  'get-mail-log': {
    method: 'GET',
    path: '/api/mail/logs/{providerId}',
    summary: 'Get the status of an email, here and at the provider',
    response: { status: 200, body: MailLogAnswer },
    errors: ['MAIL_LOG_NOT_FOUND', 'MAIL_PROVIDER_FAILED', 'MAIL_PROVIDER_UNAVAILABLE'],
  },
});
