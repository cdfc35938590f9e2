import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { ofConditions, ofEffects } from '../../data/routes.ts';
import { WriteQuery } from '../../data/schemas.ts';
import { PageQuery } from '../schemas.ts';
import { DeletedAnswer, EmptiedAnswer, RestoredAnswer, TrashPage } from './schemas.ts';

export const dashboardTrashRoutes = defineProjectRoutes('documents', {
  'list-trash': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}/trash',
    summary: 'List trashed documents and the days until deletion, latest first',
    query: PageQuery,
    response: { status: 200, body: TrashPage },
    errors: ['RESULT_TOO_LARGE'],
  },
  'empty-trash': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/collections/{collectionName}/trash',
    summary: 'Empty the trash; a large trash is emptied in the background',
    response: { status: 200, body: EmptiedAnswer },
  },
  'restore-project-document': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/trash/{id}/restore',
    summary: 'Recover a document from the trash',
    query: WriteQuery,
    response: { status: 200, body: RestoredAnswer },
    example: { headers: { 'if-match': '*' } },
    isRevised: true,
    errors: [
      'VALIDATION_FAILED',
      'REVISION_MISMATCH',
      ...ofConditions,
      'INVALID_ID',
      'DOCUMENT_NOT_FOUND',
      'DUPLICATE_VALUE',
      'DOCUMENT_TOO_LARGE',
      ...ofEffects,
    ],
  },
  'delete-trashed-document': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/collections/{collectionName}/trash/{id}',
    summary: 'Delete a trashed document permanently',
    response: { status: 200, body: DeletedAnswer },
    errors: ['INVALID_ID', 'DOCUMENT_NOT_FOUND'],
  },
});
