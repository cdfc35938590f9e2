import { defineRoutes } from '../../shared/http/route.ts';
import {
  FileBody,
  FileDeletedAnswer,
  LinksAnswer,
  LinksBody,
  UploadConfirmAnswer,
  UploadConfirmBody,
  UploadRequestAnswer,
  UploadRequestBody,
  VisibilityAnswer,
  VisibilityBody,
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
    uses: ['encryption', 'uploads', 'files', 'webhook-queue'],
    summary: 'Make a file of an upload and charge its size',
    body: UploadConfirmBody,
    response: { status: 200, body: UploadConfirmAnswer },
  },
  'delete-file': {
    method: 'DELETE',
    path: '/api/storage/file',
    access: 'secretKey',
    uses: ['encryption', 'uploads', 'files', 'webhook-queue'],
    summary: 'Delete a file and free its size',
    body: FileBody,
    response: { status: 200, body: FileDeletedAnswer },
  },
  'change-visibility': {
    method: 'PATCH',
    path: '/api/storage/file',
    access: 'secretKey',
    uses: ['encryption', 'uploads', 'files'],
    summary: 'Make a file public or private',
    body: VisibilityBody,
    response: { status: 200, body: VisibilityAnswer },
  },
  'sign-links': {
    method: 'POST',
    path: '/api/storage/sign',
    access: 'anyKey',
    uses: ['encryption', 'uploads', 'file-links'],
    summary: 'Get links for a while to up to 100 files, private ones too',
    body: LinksBody,
    response: { status: 200, body: LinksAnswer },
  },
});
