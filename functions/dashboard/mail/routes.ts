import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { MailLogAnswer, MailLogsAnswer, MailLogsQuery, SendAnswer } from '../../mail/schemas.ts';
import { IdAnswer } from '../../schemas.ts';
import { PageQuery } from '../schemas.ts';
import {
  DeletedSuppressionAnswer,
  NewTemplateBody,
  SuppressionPage,
  TemplateAnswer,
  TemplateChangesBody,
  TemplatePage,
  TestMailBody,
} from './schemas.ts';

/** The mail of a project for the developer who is signed in (contract 6): templates, the log, suppressed addresses. */
export const dashboardMailRoutes = defineProjectRoutes('mail', {
  'list-mail-templates': {
    method: 'GET',
    path: '/api/projects/{projectId}/mail/templates',
    summary: 'List mail templates, own ones by name, then the built-in ones',
    query: PageQuery,
    response: { status: 200, body: TemplatePage },
  },
  'create-mail-template': {
    method: 'POST',
    path: '/api/projects/{projectId}/mail/templates',
    summary: 'Make a mail template; with the key of a built-in one it takes its place',
    body: NewTemplateBody,
    response: { status: 201, body: TemplateAnswer },
  },
  'get-mail-template': {
    method: 'GET',
    path: '/api/projects/{projectId}/mail/templates/{templateId}',
    summary: 'Read a mail template; a built-in one by its key',
    response: { status: 200, body: TemplateAnswer },
  },
  'update-mail-template': {
    method: ['PUT', 'PATCH'],
    path: '/api/projects/{projectId}/mail/templates/{templateId}',
    summary: 'Change a mail template; what is left out stays',
    body: TemplateChangesBody,
    response: { status: 200, body: TemplateAnswer },
  },
  'delete-mail-template': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/mail/templates/{templateId}',
    summary: 'Delete a mail template',
    response: { status: 200, body: IdAnswer },
  },
  'send-test-mail': {
    method: 'POST',
    path: '/api/projects/{projectId}/mail/templates/{templateId}/test',
    audit: false,
    summary: 'Send a mail made from a template, to see what it looks like',
    body: TestMailBody,
    response: { status: 200, body: SendAnswer },
  },
  'list-project-mail-logs': {
    method: 'GET',
    path: '/api/projects/{projectId}/mail/logs',
    summary: 'List the latest 50 mails of the project and how they stand',
    query: MailLogsQuery,
    response: { status: 200, body: MailLogsAnswer },
  },
  'get-project-mail-log': {
    method: 'GET',
    path: '/api/projects/{projectId}/mail/logs/{providerId}/live',
    summary: 'Read how a mail of the project stands, here and at the provider',
    response: { status: 200, body: MailLogAnswer },
  },
  'list-suppressions': {
    method: 'GET',
    path: '/api/projects/{projectId}/mail/suppressions',
    summary: 'List the addresses that mails of the project leave out, newest first',
    query: PageQuery,
    response: { status: 200, body: SuppressionPage },
  },
  'delete-suppression': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/mail/suppressions/{email}',
    summary: 'Let an address have mails of the project again',
    response: { status: 200, body: DeletedSuppressionAnswer },
  },
});
