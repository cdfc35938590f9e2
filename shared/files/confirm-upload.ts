import { AppError } from '../core/errors.ts';
import type { Project } from '../projects/project.ts';
import type { Bucket, StoredObject } from './bucket.ts';
import { bucketOf, publicUrl } from './bucket-of.ts';
import { fileKey, fileNotFound, pendingKey, requirePathOf } from './file-path.ts';
import { type FileRef, refOf } from './upload-items.ts';
import { charge, stateOf, type UploadState } from './upload-states.ts';

export interface ConfirmedUpload {
  readonly path: string;
  readonly provider: 'internal' | 'external';
  /** `null`, with a warning, where the project's own storage has no public host. */
  readonly url: string | null;
  readonly warning?: string;
}

const mismatch = (size: number, stored: number): AppError =>
  new AppError('SIZE_MISMATCH', `size is ${size}, but the file was uploaded, or announced, with ${stored} bytes.`, {
    errors: [{ field: 'size', message: `size does not match the ${stored} bytes of the file` }],
  });

/** Requires the state `confirmed` with this size; any other state is the caller's mistake, or not ready yet. */
const requireConfirmed = (state: UploadState | undefined, size: number): void => {
  if (!state) throw fileNotFound();
  if (state.kind === 'requested') {
    const message = 'The file has not arrived yet. Finish the upload to the signed URL, then try again.';
    throw new AppError('UPLOAD_NOT_READY', message, { retryAfter: 1 });
  }
  if (state.size !== size) throw mismatch(size, state.size);
};

const requireSize = async (ref: FileRef, stored: StoredObject, size: number): Promise<void> => {
  if (stored.size === size) return;
  throw (await stateOf(ref)) ? mismatch(size, stored.size) : fileNotFound();
};

/**
 * Puts the version of the upload that is pending now to its public place, if nothing is there yet: whichever copy comes
 * first stays. Returns what is there; `null` where there is nothing and nothing to copy.
 */
const publish = async (bucket: Bucket, ref: FileRef, size: number) => {
  const from = pendingKey(ref.filePath);
  const to = fileKey(ref.filePath);
  const pending = await bucket.head(from);
  if (!pending) return null;
  await requireSize(ref, pending, size);
  const { etag, contentType } = pending;
  if ((await bucket.copy({ from, to, etag, contentType })) === 'copied') return { stored: pending, copied: true };
  const stored = await bucket.head(to);
  return stored && { stored, copied: false };
};

/** Charges the published object, or removes it again if the path is no longer available. */
const settle = async (
  bucket: Bucket,
  ref: FileRef,
  stored: StoredObject,
  copied: boolean,
  size: number,
): Promise<void> => {
  await requireSize(ref, stored, size);
  const state = await charge(ref, stored);
  if (!state || (copied && state.kind === 'requested')) await bucket.remove([fileKey(ref.filePath)]);
  if (state?.kind === 'requested') throw mismatch(size, state.size);
  requireConfirmed(state, size);
};

const answer = (project: Project, path: string): ConfirmedUpload => {
  const url = publicUrl(project, path);
  return {
    path,
    provider: project.storage.kind === 'managed' ? 'internal' : 'external',
    url,
    ...(url === null
      ? { warning: 'The storage of this project has no public host, so the file has no public URL. Set publicHost.' }
      : {}),
  };
};

/**
 * Step three of an upload (contract 4): makes the file public and charges its size, once, however often it is
 * confirmed. Not uploaded yet → 409 `UPLOAD_NOT_READY`; another size than uploaded → 400 `SIZE_MISMATCH`; malformed,
 * foreign, never requested, expired or deleted → 404 `FILE_NOT_FOUND`.
 */
export const confirmUpload = async (project: Project, filePath: string, size: number): Promise<ConfirmedUpload> => {
  requirePathOf(project.id, filePath);
  const ref = refOf(project, filePath);
  const bucket = await bucketOf(project);
  const published = await publish(bucket, ref, size);
  if (published) await settle(bucket, ref, published.stored, published.copied, size);
  else requireConfirmed(await stateOf(ref), size);
  return answer(project, filePath);
};
