import { defineExamples } from '../../../shared/http/openapi/example.ts';
import { dashboardStorageRoutes } from './routes.ts';

const projectId = '6743f0c2a91b5d0012ab34cd';
const filePath = '6743f0c2a91b5d0012ab34cd/3f2504e0-4f89-41d3-9a0c-0305e82c3301_report.txt';

/** For the API description: a successful request for each route. */
export const dashboardStorageExamples = defineExamples(dashboardStorageRoutes, {
  'list-files': { params: { projectId }, query: { page: '1', limit: '20' } },
  'delete-files': {
    params: { projectId },
    body: { paths: [filePath] },
    failures: ['STORAGE_UNAVAILABLE'],
  },
  'change-project-visibility': {
    params: { projectId },
    body: { path: filePath, visibility: 'private' },
    failures: ['FILE_NOT_FOUND', 'STORAGE_UNAVAILABLE', 'TOO_MANY_WRITERS'],
  },
  'sign-project-links': {
    params: { projectId },
    body: { paths: [filePath], expiresIn: 3600 },
    failures: ['INVALID_SIZE', 'HOSTED_FILES_ONLY'],
  },
  'request-project-upload': {
    params: { projectId },
    body: { filename: 'report.txt', contentType: 'text/plain', size: 5 },
    failures: ['STORAGE_QUOTA_EXCEEDED', 'FILE_TOO_LARGE'],
  },
  'confirm-project-upload': {
    params: { projectId },
    body: { filePath, size: 5 },
    failures: ['SIZE_MISMATCH', 'FILE_NOT_FOUND', 'UPLOAD_NOT_READY', 'STORAGE_QUOTA_EXCEEDED', 'STORAGE_UNAVAILABLE'],
  },
  'list-reservations': { params: { projectId }, failures: ['INVALID_CURSOR'] },
  'end-reservation': { params: { projectId }, body: { path: filePath }, failures: ['FILE_NOT_FOUND'] },
  'connect-storage': {
    params: { projectId },
    body: {
      endpoint: 'https://s3.eu-central-1.amazonaws.com',
      region: 'eu-central-1',
      bucket: 'shop-files',
      accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
      publicHost: 'https://files.shop.example.com',
    },
    failures: ['INVALID_STORAGE'],
  },
  'disconnect-storage': { params: { projectId } },
});
