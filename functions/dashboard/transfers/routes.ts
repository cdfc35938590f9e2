import { defineProjectRoutes } from '../../../shared/http/route.ts';
import { IdAnswer } from '../../schemas.ts';
import {
  ExportAnswer,
  ImportAnswer,
  NewExportBody,
  NewImportBody,
  StartedImportAnswer,
  TransferAnswer,
  TransferPage,
  TransfersQuery,
} from './schemas.ts';

export const dashboardTransferRoutes = defineProjectRoutes('documents', {
  'start-export': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/exports',
    summary: 'Export a collection to a file, in the background',
    body: NewExportBody,
    response: { status: 201, body: ExportAnswer },
    example: {
      body: { format: 'csv', includeDeleted: false, where: { views: { $gte: 5 } }, fields: ['title', 'views'] },
    },
    errors: ['INVALID_FILTER', 'INVALID_REGEX', 'INVALID_QUERY', 'TRANSFER_RUNNING', 'PLAN_LIMIT'],
  },
  'get-export': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}/exports/{id}',
    summary: 'Get the status of an export, with a link to its file when done',
    response: { status: 200, body: ExportAnswer },
    errors: ['TRANSFER_NOT_FOUND'],
  },
  'start-import': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/imports',
    summary: 'Import documents, in the background; large files are uploaded first',
    body: NewImportBody,
    response: { status: 201, body: StartedImportAnswer },
    example: { body: { format: 'csv', fileName: 'posts.csv', upload: true, size: 24 } },
    errors: ['TRANSFER_RUNNING', 'PLAN_LIMIT'],
  },
  'start-uploaded-import': {
    method: 'POST',
    path: '/api/projects/{projectId}/collections/{collectionName}/imports/{id}/start',
    summary: 'Start an import whose file has been uploaded',
    response: { status: 200, body: ImportAnswer },
    errors: ['TRANSFER_NOT_FOUND', 'UPLOAD_NOT_READY', 'TRANSFER_RUNNING', 'TRANSFER_ENDED'],
  },
  'get-import': {
    method: 'GET',
    path: '/api/projects/{projectId}/collections/{collectionName}/imports/{id}',
    summary: 'Get the status of an import, with errors per line',
    response: { status: 200, body: ImportAnswer },
    errors: ['TRANSFER_NOT_FOUND'],
  },
  'list-transfers': {
    method: 'GET',
    path: '/api/projects/{projectId}/transfers',
    summary: 'List the exports and imports of the last two days, newest first',
    query: TransfersQuery,
    response: { status: 200, body: TransferPage },
    example: { query: { collection: 'posts' } },
  },
  'cancel-transfer': {
    method: 'POST',
    path: '/api/projects/{projectId}/transfers/{id}/cancel',
    summary: 'Cancel an export or import that has not ended',
    response: { status: 200, body: TransferAnswer },
    errors: ['TRANSFER_NOT_FOUND', 'TRANSFER_ENDED'],
  },
  'delete-transfer': {
    method: 'DELETE',
    path: '/api/projects/{projectId}/transfers/{id}',
    summary: 'Delete a finished export or import and its file',
    response: { status: 200, body: IdAnswer },
    errors: ['TRANSFER_NOT_FOUND', 'TRANSFER_RUNNING'],
  },
});
