import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { ProjectAnswer } from '../projects/schemas.ts';
import { PageQuery } from '../schemas.ts';
import { ConnectedStorageAnswer, DeletedFilesAnswer, FilePage, FilePathsBody, StorageBody } from './schemas.ts';

/** Files of a project, and where they are kept (contract 4 and 6). */
export const dashboardStorageRoutes = defineProjectRoutes('storage', {
  'list-files': {
    method: 'GET',
    path: '/api/projects/{projectId}/storage/files',
    access: 'developer',
    uses: ['uploads'],
    summary: 'List confirmed files, newest first',
    query: PageQuery,
    response: { status: 200, body: FilePage },
  },
  'delete-files': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/storage/files',
    access: 'developer',
    uses: ['uploads', 'files'],
    summary: 'Delete up to 100 files, with an answer for each',
    body: FilePathsBody,
    response: { status: 200, body: DeletedFilesAnswer },
  },
  'connect-storage': {
    method: 'PUT',
    path: '/api/projects/{projectId}/storage',
    access: 'developer',
    summary: 'Connect an S3-compatible bucket of your own, after a test write',
    body: StorageBody,
    response: { status: 200, body: ConnectedStorageAnswer },
  },
  'disconnect-storage': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/storage',
    access: 'developer',
    summary: 'Go back to the storage of the service',
    response: { status: 200, body: ProjectAnswer },
  },
});
