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
    example: {
      body: { name: 'Receipt', subject: 'Your order {{number}}', html: '<p>Thank you, {{name}}.</p>', text: null },
    },
    errors: ['TEMPLATE_EXISTS', 'LIMIT_REACHED'],
  },
  'get-mail-template': {
    method: 'GET',
    path: '/api/projects/{projectId}/mail/templates/{templateId}',
    summary: 'Get an email template; a built-in one by its key',
    response: { status: 200, body: TemplateAnswer },
    errors: ['TEMPLATE_NOT_FOUND'],
  },
  'update-mail-template': {
    method: ['PUT', 'PATCH'],
    path: '/api/projects/{projectId}/mail/templates/{templateId}',
    summary: 'Update an email template; omitted fields stay',
    body: TemplateChangesBody,
    response: { status: 200, body: TemplateAnswer },
    example: { body: { subject: 'Your order {{number}} is on its way' } },
    errors: ['TEMPLATE_NOT_FOUND', 'TEMPLATE_EXISTS', 'NOTHING_TO_UPDATE'],
  },
  'delete-mail-template': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/mail/templates/{templateId}',
    summary: 'Delete an email template',
    response: { status: 200, body: IdAnswer },
    errors: ['TEMPLATE_NOT_FOUND'],
  },
  'send-test-mail': {
    method: 'POST',
    path: '/api/projects/{projectId}/mail/templates/{templateId}/test',
    audit: false,
    summary: 'Send a test email made from a template',
    body: TestMailBody,
    response: { status: 200, body: SendAnswer },
    example: { body: { to: 'ada@example.com', variables: { number: 1042, name: 'Ada' } } },
    errors: ['TEMPLATE_NOT_FOUND', 'INVALID_MAIL', 'EMAIL_NOT_VERIFIED', 'MAIL_QUOTA_EXCEEDED'],
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
    errors: ['MAIL_LOG_NOT_FOUND', 'MAIL_PROVIDER_FAILED', 'MAIL_PROVIDER_UNAVAILABLE'],
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
    errors: ['SUPPRESSION_NOT_FOUND'],
  },
});
