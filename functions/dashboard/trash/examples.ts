import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardTrashRoutes } from './routes.ts';

const params = { projectId: '6743f0c2a91b5d0012ab34cd', collectionName: 'posts' };
const id = '6743f0c2a91b5d0012ab34ce';

/** For the API description: a successful request for each route. */
export const dashboardTrashExamples = defineExamples(dashboardTrashRoutes, {
  'list-trash': { params, query: { page: '1', limit: '20' }, failures: ['RESULT_TOO_LARGE'] },
  'empty-trash': { params },
  'restore-project-document': {
    params: { ...params, id },
    headers: { 'if-match': '*' },
    isRevised: true,
    failures: [
      'VALIDATION_FAILED',
      'REVISION_MISMATCH',
      'INVALID_ID',
      'DOCUMENT_NOT_FOUND',
      'DUPLICATE_VALUE',
      'DOCUMENT_TOO_LARGE',
    ],
  },
  'delete-trashed-document': { params: { ...params, id }, failures: ['INVALID_ID', 'DOCUMENT_NOT_FOUND'] },
});
