import { defineExamples } from '../../shared/http/openapi/example.ts';
import { storageRoutes } from './routes.ts';

const filePath = '6743f0c2a91b5d0012ab34cd/3f2504e0-4f89-41d3-9a0c-0305e82c3301_report.txt';
const size = 5;

/** For the API description: a successful request for each route. */
export const storageExamples = defineExamples(storageRoutes, {
  'request-upload': {
    body: { filename: 'report.txt', contentType: 'text/plain', size },
    failures: ['STORAGE_QUOTA_EXCEEDED', 'USER_QUOTA_EXCEEDED', 'FILE_TOO_LARGE'],
  },
  'request-parts': {
    body: { filePath, size },
    failures: ['FILE_NOT_FOUND', 'SIZE_MISMATCH', 'FILE_TOO_LARGE', 'STORAGE_UNAVAILABLE'],
  },
  'confirm-upload': {
    body: { filePath, size },
    failures: [
      'SIZE_MISMATCH',
      'CONTENT_TYPE_MISMATCH',
      'FILE_NOT_FOUND',
      'UPLOAD_NOT_READY',
      'STORAGE_QUOTA_EXCEEDED',
      'STORAGE_UNAVAILABLE',
    ],
  },
  'list-own-files': { query: { prefix: 'report' }, failures: ['INVALID_CURSOR'] },
  'change-visibility': {
    body: { path: filePath, visibility: 'private' },
    failures: ['FILE_NOT_FOUND', 'STORAGE_UNAVAILABLE', 'TOO_MANY_WRITERS'],
  },
  'sign-links': {
    body: { paths: [filePath], expiresIn: 3600 },
    failures: ['INVALID_SIZE', 'HOSTED_FILES_ONLY'],
  },
  'delete-file': { body: { path: filePath }, failures: ['FILE_NOT_FOUND', 'STORAGE_UNAVAILABLE'] },
});
