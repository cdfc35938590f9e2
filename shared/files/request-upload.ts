import { AppError, validationFailed } from '../core/errors.ts';
import type { Project } from '../projects/project.ts';
import { allowsType } from '../projects/user-uploads.ts';
import { bucketOf } from './bucket-of.ts';
import { newFilePath, pendingKey } from './file-path.ts';
import { storageLimit } from './list-files.ts';
import { type Ownership, refOf, type UploadItem } from './upload-items.ts';
import { reserve } from './upload-states.ts';

const MiB = 1024 * 1024;
const largestFile = 10 * MiB;
const urlSeconds = 600;

interface UploadRequest extends Ownership, Pick<UploadItem, 'unproven'> {
  readonly filename: string;
  readonly contentType: string;
  /** Bytes, at least 1. */
  readonly size: number;
}

const full = (limit: number): AppError =>
  new AppError(
    'STORAGE_QUOTA_EXCEEDED',
    `The storage of this project has no room for this file: its plan allows ${Math.round(limit / MiB)} MiB, uploads that wait to be confirmed included. Delete files, or change the plan.`,
  );

/**
 * Step one of an upload (contract 4): reserves its size and signs the URL for step two. In our storage more than 10 MiB
 * → 413 `FILE_TOO_LARGE`, no room → 403 `STORAGE_QUOTA_EXCEEDED`. A reservation that
 * is not confirmed ends half an hour later, in a storage of the project's own a day later.
 */
export const requestUpload = async (project: Project, { filename, visibility, ...announced }: UploadRequest) => {
  // Nothing is said of what is as it always was, so that an item is no larger.
  const upload = { ...announced, visibility: visibility === 'public' ? undefined : visibility };
  if (project.storage.kind === 'managed' && upload.size > largestFile) {
    throw new AppError('FILE_TOO_LARGE', 'A file may have at most 10 MiB (10485760 bytes).');
  }
  const limit = storageLimit(project);
  const filePath = newFilePath(project.id, filename);
  const bucket = await bucketOf(project);
  const signedUrl = await bucket.presignUpload(pendingKey(filePath), {
    contentType: upload.contentType,
    size: upload.size,
    expiresIn: urlSeconds,
  });
  if (!(await reserve(refOf(project, filePath), upload, limit))) throw full(limit ?? 0);
  return { signedUrl, filePath };
};

/**
 * Step one of an upload by a user with the publishable key: private and theirs unless they say otherwise. Larger than
 * the project allows → 413 `FILE_TOO_LARGE`, of another type → 400 `VALIDATION_FAILED`.
 */
export const requestUserUpload = async (project: Project, userId: string | undefined, upload: UploadRequest) => {
  const { maxBytes, types } = project.uploads;
  if (upload.size > maxBytes) {
    throw new AppError('FILE_TOO_LARGE', `A file of a user may have at most ${maxBytes} bytes.`);
  }
  if (!allowsType(project.uploads, upload.contentType)) {
    throw validationFailed({ field: 'contentType', message: `contentType must be one of ${types.join(', ')}` });
  }
  return requestUpload(project, { ...upload, visibility: upload.visibility ?? 'private', owner: userId, unproven: 1 });
};
