import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardTransferRoutes } from './routes.ts';

const projectId = '6743f0c2a91b5d0012ab34cd';
const params = { projectId, collectionName: 'posts' };
const id = '6743f0c2a91b5d0012ab34d4';

/** For the API description: a successful request for each route. */
export const dashboardTransferExamples = defineExamples(dashboardTransferRoutes, {
  'start-export': {
    params,
    body: { format: 'ndjson', includeDeleted: false },
    failures: ['TRANSFER_RUNNING', 'PLAN_LIMIT'],
  },
  'get-export': { params: { ...params, id }, failures: ['TRANSFER_NOT_FOUND'] },
  'start-import': {
    params,
    body: { format: 'csv', fileName: 'posts.csv', upload: true, size: 24 },
    failures: ['TRANSFER_RUNNING', 'PLAN_LIMIT'],
  },
  'start-uploaded-import': {
    params: { ...params, id },
    failures: ['TRANSFER_NOT_FOUND', 'UPLOAD_NOT_READY', 'TRANSFER_RUNNING', 'TRANSFER_ENDED'],
  },
  'get-import': { params: { ...params, id }, failures: ['TRANSFER_NOT_FOUND'] },
  'list-transfers': { params: { projectId }, query: { page: '1', limit: '20', collection: 'posts' } },
  'cancel-transfer': { params: { projectId, id }, failures: ['TRANSFER_NOT_FOUND', 'TRANSFER_ENDED'] },
  'delete-transfer': { params: { projectId, id }, failures: ['TRANSFER_NOT_FOUND', 'TRANSFER_RUNNING'] },
});
