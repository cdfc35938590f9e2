import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardUserRoutes } from './routes.ts';

const projectId = '6743f0c2a91b5d0012ab34cd';
const id = '6743f0c2a91b5d0012ab34d5';
const query = { page: '1', limit: '20' };

/** For the API description: a successful request for each route. */
export const dashboardUserExamples = defineExamples(dashboardUserRoutes, {
  'list-users': {
    params: { projectId },
    query: { ...query, email: 'alan@' },
    failures: ['RESULT_TOO_LARGE'],
  },
  'create-user': {
    params: { projectId },
    body: { email: 'alan@example.com', password: 'correct horse battery', name: 'Alan' },
    failures: ['USER_EXISTS', 'DUPLICATE_VALUE', 'PLAN_LIMIT'],
  },
  'get-user': { params: { projectId, id }, failures: ['USER_NOT_FOUND'] },
  'get-user-security': { params: { projectId, id }, failures: ['USER_NOT_FOUND'] },
  'update-user': {
    params: { projectId, id },
    body: { name: 'Alan Turing', disabled: false },
    failures: ['USER_NOT_FOUND', 'USER_EXISTS', 'DUPLICATE_VALUE', 'NOTHING_TO_UPDATE'],
  },
  'delete-user': { params: { projectId, id }, failures: ['USER_NOT_FOUND', 'STILL_REFERENCED'] },
  'list-user-sessions': { params: { projectId, id }, query, failures: ['USER_NOT_FOUND'] },
  'revoke-user-sessions': { params: { projectId, id }, failures: ['USER_NOT_FOUND'] },
  'revoke-user-session': {
    params: { projectId, id, sessionId: '6743f0c2a91b5d0012ab34ce' },
    failures: ['USER_NOT_FOUND', 'SESSION_NOT_FOUND'],
  },
});
