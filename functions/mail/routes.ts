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
    summary: 'Accept a mail, direct or from a template, to be sent in the background',
    body: SendBody,
    response: { status: 200, body: SendAnswer },
  },
  'send-batch': {
    method: 'POST',
    path: '/api/mail/send-batch',
    repeats: 'by id',
    summary: 'Send 1 to 100 mails by one call of the provider',
    body: BatchBody,
    response: { status: 200, body: BatchAnswer },
  },
  'list-mail-logs': {
    method: 'GET',
    path: '/api/mail/logs',
    summary: 'List the latest 50 mails and how they stand',
    query: MailLogsQuery,
    response: { status: 200, body: MailLogsAnswer },
  },
  'get-mail-log': {
    method: 'GET',
    path: '/api/mail/logs/{providerId}',
    summary: 'Read how a mail stands, here and at the provider',
    response: { status: 200, body: MailLogAnswer },
  },
});
