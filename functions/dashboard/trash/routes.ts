import { defineRoutes } from '../../../shared/http/route.ts';
import { PageQuery } from '../schemas.ts';
import { EmptiedAnswer, RemovedAnswer, RestoredAnswer, TrashPage } from './schemas.ts';

/** The trash of a collection (contract 6). */
export const dashboardTrashRoutes = defineRoutes({
  'list-trash': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}/trash',
    access: 'developer',
    uses: ['mongodb', 'encryption'],
    summary: 'List trashed documents and the days they have left, latest first',
    query: PageQuery,
    response: { status: 200, body: TrashPage },
  },
  'empty-trash': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/collections/{collectionName}/trash',
    access: 'developer',
    uses: ['mongodb', 'encryption', 'work-queue', 'session-check'],
    summary: 'Empty the trash; a large one is emptied in the background',
    response: { status: 200, body: EmptiedAnswer },
  },
  'restore-document': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/trash/{id}/restore',
    access: 'developer',
    uses: ['mongodb', 'encryption', 'session-check'],
    summary: 'Take a document back out of the trash',
    response: { status: 200, body: RestoredAnswer },
  },
  'remove-document': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/collections/{collectionName}/trash/{id}',
    access: 'developer',
    uses: ['mongodb', 'encryption', 'session-check'],
    summary: 'Delete a trashed document permanently',
    response: { status: 200, body: RemovedAnswer },
  },
});
