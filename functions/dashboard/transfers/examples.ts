import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardTransferRoutes } from './routes.ts';

const params = { projectId: '6743f0c2a91b5d0012ab34cd', collectionName: 'posts' };
const id = '6743f0c2a91b5d0012ab34d4';

/** For the API description: a request of each row that succeeds. */
export const dashboardTransferExamples = defineExamples(dashboardTransferRoutes, {
  'start-export': {
    params,
    body: { format: 'ndjson', includeDeleted: false },
    failures: ['TRANSFER_RUNNING', 'LIMIT_REACHED'],
  },
  'get-export': { params: { ...params, id }, failures: ['TRANSFER_NOT_FOUND'] },
  'start-import': {
    params,
    body: { format: 'csv', upload: true, size: 24 },
    failures: ['TRANSFER_RUNNING', 'LIMIT_REACHED'],
  },
  'start-uploaded-import': {
    params: { ...params, id },
    failures: ['TRANSFER_NOT_FOUND', 'UPLOAD_NOT_READY', 'SIZE_MISMATCH'],
  },
  'get-import': { params: { ...params, id }, failures: ['TRANSFER_NOT_FOUND'] },
});
