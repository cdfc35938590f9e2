import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { FileDeletedAnswer, LinksAnswer, VisibilityAnswer } from '../../storage/schemas.ts';
import { ProjectAnswer } from '../projects/schemas.ts';
import { PageQuery } from '../schemas.ts';
import {
  ConfirmedUploadAnswer,
  ConnectedStorageAnswer,
  DeletedFilesAnswer,
  FilePage,
  FilePathsBody,
  ProjectLinksBody,
  ProjectUploadConfirmBody,
  ProjectUploadRequestBody,
  ProjectVisibilityBody,
  RequestedUploadAnswer,
  ReservationBody,
  ReservationPage,
  ReservationsQuery,
  StorageBody,
} from './schemas.ts';

/** Files of a project, and where they are kept (contract 4 and 6). */
export const dashboardStorageRoutes = defineProjectRoutes('storage', {
  'list-files': {
    method: 'GET',
    path: '/api/projects/{projectId}/storage/files',
    summary: 'List confirmed files, newest first',
    query: PageQuery,
    response: { status: 200, body: FilePage },
  },
  'delete-files': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/storage/files',
    summary: 'Delete up to 100 files, with a result for each',
    body: FilePathsBody,
    response: { status: 200, body: DeletedFilesAnswer },
  },
  'change-project-visibility': {
    method: 'PATCH',
    path: '/api/projects/{projectId}/storage/file',
    handsOut: ['storage:read'],
    summary: 'Make a file of the project public or private',
    body: ProjectVisibilityBody,
    response: { status: 200, body: VisibilityAnswer },
  },
  'sign-project-links': {
    method: 'POST',
    path: '/api/projects/{projectId}/storage/sign',
    role: 'viewer',
    audit: false,
    handsOut: ['storage:read'],
    summary: 'Get temporary links to up to 100 files of the project',
    body: ProjectLinksBody,
    response: { status: 200, body: LinksAnswer },
  },
  'request-project-upload': {
    method: 'POST',
    path: '/api/projects/{projectId}/storage/upload-request',
    audit: false,
    summary: 'Reserve storage for a file of the project and get a signed upload URL',
    body: ProjectUploadRequestBody,
    response: { status: 200, body: RequestedUploadAnswer },
  },
  'confirm-project-upload': {
    method: 'POST',
    path: '/api/projects/{projectId}/storage/upload-confirm',
    summary: 'Confirm an upload of the project and count its size',
    body: ProjectUploadConfirmBody,
    response: { status: 200, body: ConfirmedUploadAnswer },
  },
  'list-reservations': {
    method: 'GET',
    path: '/api/projects/{projectId}/storage/reservations',
    summary: 'List uploads that are not confirmed, newest first, with what they reserve',
    query: ReservationsQuery,
    response: { status: 200, body: ReservationPage },
  },
  'end-reservation': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/storage/reservations',
    summary: 'End an upload that is not confirmed, and free what it reserves',
    body: ReservationBody,
    response: { status: 200, body: FileDeletedAnswer },
  },
  'connect-storage': {
    method: 'PUT',
    path: '/api/projects/{projectId}/storage',
    handsOut: ['storage:read'],
    summary: 'Connect an S3-compatible bucket of your own, after a test write',
    body: StorageBody,
    response: { status: 200, body: ConnectedStorageAnswer },
  },
  'disconnect-storage': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/storage',
    summary: 'Disconnect your own bucket and use hosted storage',
    response: { status: 200, body: ProjectAnswer },
  },
});
