import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { PageQuery } from '../schemas.ts';
import { DeletedAnswer, EmptiedAnswer, RestoredAnswer, TrashPage } from './schemas.ts';

/** The trash of a collection (contract 6). */
export const dashboardTrashRoutes = defineProjectRoutes('documents', {
  'list-trash': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}/trash',
    summary: 'List trashed documents and the days they have left, latest first',
    query: PageQuery,
    response: { status: 200, body: TrashPage },
  },
  'empty-trash': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/collections/{collectionName}/trash',
    summary: 'Empty the trash; a large one is emptied in the background',
    response: { status: 200, body: EmptiedAnswer },
  },
  'restore-project-document': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/trash/{id}/restore',
    summary: 'Take a document back out of the trash',
    response: { status: 200, body: RestoredAnswer },
  },
  'delete-trashed-document': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/collections/{collectionName}/trash/{id}',
    summary: 'Delete a trashed document permanently',
    response: { status: 200, body: DeletedAnswer },
  },
});
