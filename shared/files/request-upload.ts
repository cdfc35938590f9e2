import { clock } from '../core/clock.ts';
import { AppError, validationFailed } from '../core/errors.ts';
import { outcomeUnknown, type Run } from '../persistence/idempotency.ts';
import { plans } from '../projects/plans.ts';
import type { Project } from '../projects/project.ts';
import { allowsType } from '../projects/user-settings.ts';
import { bucketOf, customerBucket } from './bucket-of.ts';
import { uploadableUntil } from './due-uploads.ts';
import {
  dispositionOf,
  type FileAccess,
  type FileRef,
  fileKey,
  fileNotFound,
  nameIn,
  newFilePath,
  type Ownership,
  pendingKey,
  refOf,
  requireRef,
  shownName,
  sizeMismatch,
  toDisplayName,
  type UploadItem,
  type UserQuotaItem,
} from './file-items.ts';
import { storageLimit } from './list-files.ts';
import { type MultipartBucket, maxMultipartBytes, partBytes, sortParts } from './multipart.ts';
import { keepUploadId, reserve, stateOf, type UploadState, type UserLimits } from './upload-states.ts';

const MiB = 1024 * 1024;
const maxFileBytes = 10 * MiB;
const urlSeconds = 600;

interface UploadRequest extends Ownership, Pick<UploadItem, 'unproven' | 'bounded'> {
  readonly filename: string;
  readonly contentType: string;
  /** Bytes, at least 1. */
  readonly size: number;
}

/** A customer's storage has no byte limit, and five times the reservations, because they last a day. */
const userLimits = ({ plan, storage }: Project): UserLimits => {
  const { userStorageBytes: bytes, userFiles: files, userReservations: reservations } = plans[plan];
  return storage.kind === 'managed'
    ? { bytes, files, reservations }
    : { bytes: null, files, reservations: 5 * reservations };
};

const userQuotaExceeded = (limits: UserLimits, has: UserQuotaItem | undefined): AppError => {
  const { files = 0, reservations = 0 } = has ?? {};
  const mib = Math.round((limits.bytes ?? 0) / MiB);
  const message =
    reservations >= limits.reservations
      ? `A user may have ${limits.reservations} uploads that are not confirmed. Confirm them, or wait until they end.`
      : files >= limits.files
        ? `A user may have ${limits.files} files, including unconfirmed uploads. Delete files first.`
        : `The files of a user may have ${mib} MiB together, including unconfirmed uploads. Delete files first.`;
  return new AppError('USER_QUOTA_EXCEEDED', message);
};

const storageQuotaExceeded = (limit: number): AppError =>
  new AppError(
    'STORAGE_QUOTA_EXCEEDED',
    `This file does not fit into the storage of this project: its plan allows ${Math.round(limit / MiB)} MiB, including unconfirmed uploads. Delete files, or change the plan.`,
  );

/** A shorter URL would be useless. */
const minUrlSeconds = 30;

/**
 * Lifetime of the URL. A repeated run gets what is left of its reservation. Throws 409 `IDEMPOTENCY_OUTCOME_UNKNOWN` if
 * that is confirmed, ended or about to end.
 */
const secondsFor = async (ref: FileRef, run: Run | undefined): Promise<number> => {
  const state = run?.isRepeat ? await stateOf(ref) : undefined;
  if (!state && !run?.isAnswered) return urlSeconds;
  const until = state?.requestedAt === undefined ? 0 : uploadableUntil(ref.storageId, state.requestedAt);
  const left = Math.floor((until - clock.now()) / 1000);
  if (left < minUrlSeconds) {
    throw outcomeUnknown(
      'The upload of the first request with this Idempotency-Key was confirmed, or has ended. Request a new upload with a new key.',
    );
  }
  return Math.min(left, urlSeconds);
};

/**
 * Reserves the size of an upload and signs its URL. A repeated `run` signs the same path again. Errors for hosted
 * files: 413 `FILE_TOO_LARGE` over 10 MiB, 403 `STORAGE_QUOTA_EXCEEDED`.
 */
export const requestUpload = async (
  project: Project,
  { filename, visibility, ...announced }: UploadRequest,
  run?: Run,
) => {
  if (project.storage.kind === 'managed' && announced.size > maxFileBytes) {
    throw new AppError('FILE_TOO_LARGE', 'A file can have at most 10 MiB (10485760 bytes).');
  }
  const limit = storageLimit(project);
  const filePath = newFilePath(project.id, filename, run);
  const ref = refOf(project, filePath);
  const shown = toDisplayName(filename);
  // Defaults are omitted to keep the item small.
  const name = shown === '' || shown === nameIn(filePath) ? undefined : shown;
  const upload = { ...announced, name, visibility: visibility === 'public' ? undefined : visibility };
  const [bucket, expiresIn] = await Promise.all([bucketOf(project), secondsFor(ref, run)]);
  const signedUrl = await bucket.presignUpload(pendingKey(filePath), {
    contentType: upload.contentType,
    size: upload.size,
    expiresIn,
  });
  const user = userLimits(project);
  const full = run?.isAnswered ? undefined : await reserve(ref, upload, { storage: limit, user });
  if (full) throw full.of === 'user' ? userQuotaExceeded(user, full.has) : storageQuotaExceeded(limit ?? 0);
  return { signedUrl, filePath, name: shownName(filePath, upload) };
};

/**
 * Requests an upload with a publishable key; private and the user's own by default. Errors: 413 `FILE_TOO_LARGE`, 400
 * `VALIDATION_FAILED` for other types, 403 `USER_QUOTA_EXCEEDED`.
 */
export const requestUserUpload = async (
  project: Project,
  userId: string | undefined,
  upload: UploadRequest,
  run?: Run,
) => {
  const { maxBytes, types } = project.uploads;
  if (upload.size > maxBytes) {
    throw new AppError('FILE_TOO_LARGE', `A file of a user may have at most ${maxBytes} bytes.`);
  }
  if (!allowsType(project.uploads, upload.contentType)) {
    throw validationFailed({ field: 'contentType', message: `contentType must be one of ${types.join(', ')}` });
  }
  const visibility = upload.visibility ?? 'private';
  return requestUpload(project, { ...upload, visibility, owner: userId, unproven: 1, bounded: 1 }, run);
};

/** An hour is enough for 16 parts on a slow line. */
const partsAtOnce = 16;
const partUrlSeconds = 3600;

const invalidPath = (message: string): AppError => validationFailed({ field: 'filePath', message });

interface PartsRequest {
  readonly filePath: string;
  /** Size of the file to upload, to detect another file. */
  readonly size?: number | undefined;
}

const requireInParts = ({ size, isUnproven, visibility }: UploadState): void => {
  if (size > maxMultipartBytes) throw new AppError('FILE_TOO_LARGE', 'A multipart upload can have at most 5 GiB.');
  if (isUnproven && visibility === 'public') {
    throw invalidPath('filePath must be of a private file: users cannot upload public files in parts');
  }
};

/** Starts the upload in parts unless it is started; `undefined` if the path is not requested any more. */
const uploadOf = async (parts: MultipartBucket, ref: FileRef, state: UploadState) => {
  const key = fileKey(ref.filePath, state.visibility);
  if (state.uploadId) return { key, uploadId: state.uploadId };
  const begun = { key, uploadId: await parts.begin(key, state.contentType, dispositionOf(ref.filePath, state)) };
  const uploadId = await keepUploadId(ref, begun);
  if (uploadId !== begun.uploadId) await parts.abort(begun);
  return uploadId === undefined ? undefined : { key, uploadId };
};

/**
 * Returns the missing parts, the first 16 with URLs valid for an hour. Repeated after each round, it resumes an
 * interrupted upload. Errors: 400 `VALIDATION_FAILED` for hosted storage, 400 `SIZE_MISMATCH`, 413 `FILE_TOO_LARGE`
 * over 5 GiB, 404 `FILE_NOT_FOUND`.
 */
export const requestParts = async (project: Project, access: FileAccess, { filePath, size: given }: PartsRequest) => {
  const ref = requireRef(project, filePath);
  const state = await stateOf(ref);
  if (!state) throw fileNotFound();
  await access.requireChange(state);
  const { size } = state;
  const { storage } = project;
  if (storage.kind === 'managed')
    throw invalidPath('filePath must be of a storage of the project’s own: PUT to signedUrl');
  const isThere = { filePath, size, partSize: partBytes, uploaded: size, parts: [] };
  if (given !== undefined && given !== size) throw sizeMismatch(given, size);
  if (state.kind === 'confirmed') return isThere;
  requireInParts(state);
  const bucket = await customerBucket(project.id, storage);
  const upload = await uploadOf(bucket.parts, ref, state);
  if (!upload) throw fileNotFound();
  const stored = await bucket.parts.list(upload);
  if (!stored) {
    // Completed by a confirmation that was interrupted afterwards.
    if (await bucket.head(upload.key)) return isThere;
    throw fileNotFound();
  }
  const { missing } = sortParts(size, stored);
  const parts = await Promise.all(
    missing.slice(0, partsAtOnce).map(async (part) => ({
      ...part,
      signedUrl: await bucket.parts.presign(upload, part, partUrlSeconds),
    })),
  );
  const uploaded = size - missing.reduce((sum, part) => sum + part.size, 0);
  const expiresAt = new Date(clock.now() + partUrlSeconds * 1000);
  return { ...isThere, uploaded, parts, expiresAt };
};
