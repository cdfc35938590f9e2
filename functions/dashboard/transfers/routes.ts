import { defineRoutes } from '../../../shared/http/route.ts';
import { ExportAnswer, ImportAnswer, NewExportBody, NewImportBody, StartedImportAnswer } from './schemas.ts';

/** Exports and imports of a collection (contract 6). */
export const dashboardTransferRoutes = defineRoutes({
  'start-export': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/exports',
    access: 'developer',
    uses: ['mongodb', 'encryption', 'work-queue', 'transfers'],
    summary: 'Export a collection to a file, in the background',
    body: NewExportBody,
    response: { status: 201, body: ExportAnswer },
  },
  'get-export': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}/exports/{id}',
    access: 'developer',
    uses: ['mongodb', 'encryption', 'transfers'],
    summary: 'How an export stands, with a link to its file where it is done',
    response: { status: 200, body: ExportAnswer },
  },
  'start-import': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/imports',
    access: 'developer',
    uses: ['mongodb', 'encryption', 'work-queue', 'transfers'],
    summary: 'Import documents, in the background; large files are uploaded first',
    body: NewImportBody,
    response: { status: 201, body: StartedImportAnswer },
  },
  'start-uploaded-import': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/imports/{id}/start',
    access: 'developer',
    uses: ['mongodb', 'encryption', 'work-queue', 'transfers'],
    summary: 'Start an import whose file has been uploaded',
    response: { status: 200, body: ImportAnswer },
  },
  'get-import': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}/imports/{id}',
    access: 'developer',
    uses: ['mongodb', 'encryption', 'transfers'],
    summary: 'How an import stands, with what was wrong line by line',
    response: { status: 200, body: ImportAnswer },
  },
});
