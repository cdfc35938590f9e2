import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardMailRoutes } from './routes.ts';

const projectId = '6743f0c2a91b5d0012ab34cd';
const templateId = '6743f0c2a91b5d0012ab34cf';
const page = { page: '1', limit: '20' };

/** For the API description: a successful request for each route. */
export const dashboardMailExamples = defineExamples(dashboardMailRoutes, {
  'list-mail-templates': { params: { projectId }, query: page },
  'create-mail-template': {
    params: { projectId },
    body: { name: 'Receipt', subject: 'Your order {{number}}', html: '<p>Thank you, {{name}}.</p>', text: null },
    failures: ['TEMPLATE_EXISTS', 'LIMIT_REACHED'],
  },
  'get-mail-template': { params: { projectId, templateId }, failures: ['TEMPLATE_NOT_FOUND'] },
  'update-mail-template': {
    params: { projectId, templateId },
    body: { subject: 'Your order {{number}} is on its way' },
    failures: ['TEMPLATE_NOT_FOUND', 'TEMPLATE_EXISTS', 'NOTHING_TO_UPDATE'],
  },
  'delete-mail-template': { params: { projectId, templateId }, failures: ['TEMPLATE_NOT_FOUND'] },
  'send-test-mail': {
    params: { projectId, templateId },
    body: { to: 'ada@example.com', variables: { number: 1042, name: 'Ada' } },
    failures: ['TEMPLATE_NOT_FOUND', 'INVALID_MAIL', 'EMAIL_NOT_VERIFIED', 'MAIL_QUOTA_EXCEEDED'],
  },
  'list-project-mail-logs': { params: { projectId } },
  'get-project-mail-log': {
    params: { projectId, providerId: '6743f0c2a91b5d0012ab34d0' },
    failures: ['MAIL_LOG_NOT_FOUND', 'MAIL_PROVIDER_FAILED', 'MAIL_PROVIDER_UNAVAILABLE'],
  },
  'list-suppressions': { params: { projectId }, query: page },
  'delete-suppression': { params: { projectId, email: 'bounced@example.com' }, failures: ['SUPPRESSION_NOT_FOUND'] },
});
