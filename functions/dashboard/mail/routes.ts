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
    summary: 'List email templates: your own by name, then the built-in ones',
    query: PageQuery,
    response: { status: 200, body: TemplatePage },
  },
  'create-mail-template': {
    method: 'POST',
    path: '/api/projects/{projectId}/mail/templates',
    summary: 'Create an email template; the key of a built-in template overrides it',
    body: NewTemplateBody,
    response: { status: 201, body: TemplateAnswer },
  },
  'get-mail-template': {
    method: 'GET',
    path: '/api/projects/{projectId}/mail/templates/{templateId}',
    summary: 'Get an email template; a built-in one by its key',
    response: { status: 200, body: TemplateAnswer },
  },
  'update-mail-template': {
    method: ['PUT', 'PATCH'],
    path: '/api/projects/{projectId}/mail/templates/{templateId}',
    summary: 'Update an email template; omitted fields stay',
    body: TemplateChangesBody,
    response: { status: 200, body: TemplateAnswer },
  },
  'delete-mail-template': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/mail/templates/{templateId}',
    summary: 'Delete an email template',
    response: { status: 200, body: IdAnswer },
  },
  'send-test-mail': {
    method: 'POST',
    path: '/api/projects/{projectId}/mail/templates/{templateId}/test',
    audit: false,
    summary: 'Send a test email made from a template',
    body: TestMailBody,
    response: { status: 200, body: SendAnswer },
  },
  'list-project-mail-logs': {
    method: 'GET',
    path: '/api/projects/{projectId}/mail/logs',
    summary: 'List the latest 50 emails of the project and their status',
    query: MailLogsQuery,
    response: { status: 200, body: MailLogsAnswer },
  },
  'get-project-mail-log': {
    method: 'GET',
    path: '/api/projects/{projectId}/mail/logs/{providerId}/live',
    summary: 'Get the status of an email of the project, here and at the provider',
    response: { status: 200, body: MailLogAnswer },
  },
  'list-suppressions': {
    method: 'GET',
    path: '/api/projects/{projectId}/mail/suppressions',
    summary: 'List suppressed addresses, newest first',
    query: PageQuery,
    response: { status: 200, body: SuppressionPage },
  },
  'delete-suppression': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/mail/suppressions/{email}',
    summary: 'Remove an address from the suppression list',
    response: { status: 200, body: DeletedSuppressionAnswer },
  },
});
