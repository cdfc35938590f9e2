import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardMemberRoutes } from './routes.ts';

const projectId = '6743f0c2a91b5d0012ab34cd';
const developerId = '6743f0c2a91b5d0012ab34d1';
const query = { page: '1', limit: '20' };

/** For the API description: a successful request for each route. */
export const dashboardMemberExamples = defineExamples(dashboardMemberRoutes, {
  'list-members': { params: { projectId }, query },
  'update-member': {
    params: { projectId, developerId },
    body: { role: 'admin' },
    failures: ['MEMBER_NOT_FOUND', 'OWNER_STAYS'],
  },
  'delete-member': { params: { projectId, developerId }, failures: ['MEMBER_NOT_FOUND', 'OWNER_STAYS'] },
  'list-invitations': { params: { projectId }, query },
  'create-invitation': {
    params: { projectId },
    body: { email: 'alan@example.com', role: 'viewer' },
    failures: ['MEMBER_EXISTS', 'LIMIT_REACHED', 'EMAIL_NOT_VERIFIED'],
  },
  'delete-invitation': {
    params: { projectId, id: '6743f0c2a91b5d0012ab34d2' },
    failures: ['INVITATION_NOT_FOUND'],
  },
  'accept-invitation': {
    body: { token: 'u6bq0Jt7m2bWcYhR5sKd8uEfGzLiNo1234567890ABC' },
    failures: ['INVITATION_NOT_FOUND'],
  },
});
