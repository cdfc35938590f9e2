import { clock } from '../core/clock.ts';
import { AppError, validationFailed } from '../core/errors.ts';
import type { Caller, Project } from '../projects/project.ts';
import { ownBucket } from './bucket-of.ts';
import { fileKey, fileNotFound, sizeMismatch } from './file-path.ts';
import type { MultipartBucket } from './multipart-bucket.ts';
import { largestInParts, partBytes, sortParts } from './parts.ts';
import { type FileRef, isHiddenFrom, requireRef } from './upload-items.ts';
import { keepUploadId, stateOf, type UploadState } from './upload-states.ts';

/** How many parts are signed at a time, and for how long: a slow line gets them there in that time. */
const partsAtOnce = 16;
const urlSeconds = 3600;

const refused = (message: string): AppError => validationFailed({ field: 'filePath', message });

interface PartsRequest {
  readonly filePath: string;
  /** Of the file that is to be uploaded, to know one that is not the same. */
  readonly size?: number | undefined;
}

const requireInParts = ({ size, isUnproven, visibility }: UploadState): void => {
  if (size > largestInParts) throw new AppError('FILE_TOO_LARGE', 'A file in parts may have at most 5 GiB.');
  if (isUnproven && visibility === 'public') {
    throw refused(
      'filePath must be of a private file: what users upload in parts cannot be looked at before it is public',
    );
  }
};

/** The upload of a path in parts, begun where it is not; `undefined` where the path is not requested any more. */
const uploadOf = async (parts: MultipartBucket, ref: FileRef, state: UploadState) => {
  const key = fileKey(ref.filePath, state.visibility);
  if (state.uploadId) return { key, uploadId: state.uploadId };
  const begun = { key, uploadId: await parts.begin(key, state.contentType) };
  const uploadId = await keepUploadId(ref, begun);
  if (uploadId !== begun.uploadId) await parts.abort(begun);
  return uploadId === undefined ? undefined : { key, uploadId };
};

/**
 * Which parts of an upload are still missing, the first 16 of them with signed URLs, good for an hour and for exactly
 * their length: asked again after each, it resumes an upload wherever it was cut off (contract 4, "Uploads in parts").
 * In a storage of the project's own alone, else 400 `VALIDATION_FAILED`; another size than announced → 400
 * `SIZE_MISMATCH`; more than 5 GiB → 413 `FILE_TOO_LARGE`; unknown, expired or given up → 404 `FILE_NOT_FOUND`.
 */
export const requestParts = async (project: Project, caller: Caller, { filePath, size: given }: PartsRequest) => {
  const ref = requireRef(project, filePath);
  const state = await stateOf(ref);
  if (!state || isHiddenFrom(caller, state)) throw fileNotFound();
  const { size } = state;
  const { storage } = project;
  if (storage.kind === 'managed') throw refused('filePath must be of a storage of the project’s own: PUT to signedUrl');
  const isThere = { filePath, size, partSize: partBytes, uploaded: size, parts: [] };
  if (given !== undefined && given !== size) throw sizeMismatch(given, size);
  if (state.kind === 'confirmed') return isThere;
  requireInParts(state);
  const bucket = await ownBucket(project.id, storage);
  const upload = await uploadOf(bucket.parts, ref, state);
  if (!upload) throw fileNotFound();
  const stored = await bucket.parts.list(upload);
  if (!stored) {
    // It was put together by a confirmation that went no further.
    if (await bucket.head(upload.key)) return isThere;
    throw fileNotFound();
  }
  const { missing } = sortParts(size, stored);
  const parts = await Promise.all(
    missing.slice(0, partsAtOnce).map(async (part) => ({
      ...part,
      signedUrl: await bucket.parts.presign(upload, part, urlSeconds),
    })),
  );
  const uploaded = size - missing.reduce((sum, part) => sum + part.size, 0);
  const expiresAt = new Date(clock.now() + urlSeconds * 1000);
  return { ...isThere, uploaded, parts, expiresAt };
};
