import { defineRoutes } from '../../shared/http/route.ts';
import {
  FileBody,
  FileDeletedAnswer,
  UploadConfirmAnswer,
  UploadConfirmBody,
  UploadRequestAnswer,
  UploadRequestBody,
} from './schemas.ts';

/** The storage API, in the order of the specification. */
export const storageRoutes = defineRoutes({
  'request-upload': {
    method: 'POST',
    path: '/api/storage/upload-request',
    access: 'secretKey',
    uses: ['encryption', 'uploads', 'files'],
    summary: 'Reserve room for a file and get the signed URL to upload it to',
    body: UploadRequestBody,
    response: { status: 200, body: UploadRequestAnswer },
  },
  'confirm-upload': {
    method: 'POST',
    path: '/api/storage/upload-confirm',
    access: 'secretKey',
    uses: ['encryption', 'uploads', 'files'],
    summary: 'Make an uploaded file public and charge its size',
    body: UploadConfirmBody,
    response: { status: 200, body: UploadConfirmAnswer },
  },
  'delete-file': {
    method: 'DELETE',
    path: '/api/storage/file',
    access: 'secretKey',
    uses: ['encryption', 'uploads', 'files'],
    summary: 'Delete a file and free its size',
    body: FileBody,
    response: { status: 200, body: FileDeletedAnswer },
  },
});
