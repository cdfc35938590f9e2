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

/** The mail API, in the order of the specification. */
export const mailRoutes = defineRoutesFor('secretKey', {
  'send-mail': {
    method: 'POST',
    path: '/api/mail/send',
    repeats: 'by id',
    summary: 'Queue an email, with its own content or from a template',
    body: SendBody,
    response: { status: 200, body: SendAnswer },
  },
  'send-batch': {
    method: 'POST',
    path: '/api/mail/send-batch',
    repeats: 'by id',
    summary: 'Send 1 to 100 emails in one call to the provider',
    body: BatchBody,
    response: { status: 200, body: BatchAnswer },
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
  },
});
