import { fileTypeFromBuffer } from 'file-type';
import { AppError, isClientError } from '../core/errors.ts';
import type { Project } from '../projects/project.ts';
import { bareType } from '../projects/user-settings.ts';
import { withWebhookEvent } from '../webhooks/events.ts';
import type { Bucket, StoredObject } from './bucket.ts';
import { bucketOf } from './bucket-of.ts';
import {
  addressOf,
  developerAccess,
  dispositionOf,
  type FileAccess,
  type FileRef,
  fileKey,
  fileNotFound,
  type Named,
  type Ownership,
  pendingKey,
  requireRef,
  shownName,
  sizeMismatch,
} from './file-items.ts';
import { type MultipartUpload, sortParts } from './multipart.ts';
import { confirmCharge, expire, stateOf, type UploadState } from './upload-states.ts';

/** Throws unless the path is confirmed with this size. */
const requireConfirmed = (state: UploadState | undefined, size: number): void => {
  if (!state) throw fileNotFound();
  if (state.kind === 'requested') {
    const message = 'The file has not arrived yet. Finish the upload to the signed URL, then retry.';
    throw new AppError('UPLOAD_NOT_READY', message, { retryAfter: 1 });
  }
  if (state.size !== size) throw sizeMismatch(size, state.size);
};

/**
 * Copies the pending upload to its place unless an object is there already: the first copy stays. Returns the object
 * there; `null` if there is none.
 */
const publish = async (bucket: Bucket, ref: FileRef, { visibility, name }: UploadState, pending: StoredObject) => {
  const from = pendingKey(ref.filePath);
  const to = fileKey(ref.filePath, visibility);
  const { etag, contentType } = pending;
  const disposition = dispositionOf(ref.filePath, { name });
  const outcome = await bucket.copy({ from, to, etag, contentType, disposition });
  if (outcome === 'copied') return { stored: pending, copied: true };
  const stored = await bucket.head(to);
  return stored && { stored, copied: false };
};

/**
 * Completes an upload in parts unless the object exists. Returns the object; `null` if parts are missing or were
 * replaced meanwhile.
 */
const publishParts = async (bucket: Required<Bucket>, upload: MultipartUpload, size: number) => {
  const parts = await bucket.parts.list(upload);
  const { arrived, missing } = sortParts(size, parts ?? []);
  if (parts && missing.length > 0) return null;
  const copied = parts !== undefined && (await bucket.parts.complete(upload, arrived)) === 'completed';
  // Without an upload another confirmation has completed it.
  const stored = await bucket.head(upload.key);
  return stored && { stored, copied };
};

/** Charges the published object, or removes it if the path is no longer available. */
const chargePublished = async (
  bucket: Bucket,
  ref: FileRef,
  requested: UploadState,
  { stored, copied }: { readonly stored: StoredObject; readonly copied: boolean },
  size: number,
): Promise<void> => {
  if (stored.size !== size) throw sizeMismatch(size, stored.size);
  const state = await confirmCharge(ref, stored, requested);
  // After a concurrent confirmation the file is elsewhere, or this copy would not exist.
  const isLeft = !state || (copied && (state.kind === 'requested' || state.visibility !== requested.visibility));
  if (isLeft) await bucket.remove([fileKey(ref.filePath, requested.visibility)]);
  if (state?.kind === 'requested') throw sizeMismatch(size, state.size);
  requireConfirmed(state, size);
};

/** `url` is `null` for private files, and, with a warning, without a public host. */
const toConfirmedUpload = (project: Project, path: string, { visibility = 'public', name }: Ownership & Named = {}) => {
  const provider: 'internal' | 'external' = project.storage.kind === 'managed' ? 'internal' : 'external';
  const url = addressOf(project, path, visibility);
  return {
    path,
    name: shownName(path, { name }),
    provider,
    url,
    ...(url === null && visibility === 'public'
      ? { warning: 'The storage of this project has no public host, so the file has no public URL. Set publicHost.' }
      : {}),
  };
};

interface ConfirmOptions {
  /** Who may confirm. */
  readonly access?: FileAccess;
  /** Throws if the content does not match the declared type. */
  readonly prove?: (bucket: Bucket, key: string, stored: StoredObject) => Promise<void>;
}

/** `null` if the upload has not arrived completely. */
const publishRequested = async (
  ref: FileRef,
  requested: { readonly bucket: Bucket; readonly state: UploadState; readonly pending: StoredObject | null },
  size: number,
  prove: ConfirmOptions['prove'] = async () => undefined,
) => {
  const { bucket, state, pending } = requested;
  const { uploadId } = state;
  if (uploadId === undefined || !bucket.parts) {
    if (!pending) return null;
    if (pending.size !== size) throw sizeMismatch(size, pending.size);
    if (state.isUnproven) await prove(bucket, pendingKey(ref.filePath), pending);
    return publish(bucket, ref, state, pending);
  }
  if (state.size !== size) throw sizeMismatch(size, state.size);
  const key = fileKey(ref.filePath, state.visibility);
  const published = await publishParts({ ...bucket, parts: bucket.parts }, { key, uploadId }, size);
  if (!published || !state.isUnproven) return published;
  // Only the completed object can be inspected; nobody has a link to it before it is charged.
  try {
    await prove(bucket, key, published.stored);
  } catch (error) {
    // Errors of the storage prove nothing, and an upload confirmed meanwhile is a file.
    if (isClientError(error) && (await expire(ref, state))) await bucket.remove([key]);
    throw error;
  }
  return published;
};

/**
 * Completes an upload: publishes the file and charges its size once, however often it is confirmed. Errors: 409
 * `UPLOAD_NOT_READY`, 400 `SIZE_MISMATCH`, 404 `FILE_NOT_FOUND`.
 */
export const confirmUpload = async (
  project: Project,
  filePath: string,
  size: number,
  { access = developerAccess, prove }: ConfirmOptions = {},
) => {
  const ref = requireRef(project, filePath);
  const bucket = await bucketOf(project);
  // A confirmed path is not copied again: the file may have been made private since.
  const [state, pending] = await Promise.all([stateOf(ref), bucket.head(pendingKey(filePath))]);
  if (state) await access.requireConfirm(state);
  if (state?.kind === 'requested' && (pending || state.uploadId !== undefined)) {
    const published = await publishRequested(ref, { bucket, state, pending }, size, prove);
    const news = { event: 'file.confirmed', thing: `file/${filePath}` } as const;
    if (published) await withWebhookEvent(project, news, () => chargePublished(bucket, ref, state, published, size));
    else requireConfirmed(await stateOf(ref), size);
  } else requireConfirmed(state, size);
  return toConfirmedUpload(project, filePath, state);
};

/** Enough bytes to recognise a format. */
export const signatureBytes = 4100;

/**
 * Names of one format, or of formats that start alike, such as audio and video in one container. The first name
 * represents the line.
 */
const formatNames = [
  ['image/jpeg', 'image/jpg', 'image/pjpeg'],
  ['image/png', 'image/apng', 'image/x-png'],
  ['image/bmp', 'image/x-bmp', 'image/x-ms-bmp'],
  ['image/x-icon', 'image/vnd.microsoft.icon'],
  ['image/heif', 'image/heic', 'image/heif-sequence', 'image/heic-sequence'],
  ['audio/mpeg', 'audio/mp3', 'audio/x-mp3'],
  ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave'],
  ['audio/flac', 'audio/x-flac'],
  ['audio/aiff', 'audio/x-aiff'],
  ['audio/aac', 'audio/x-aac', 'audio/aacp'],
  ['audio/midi', 'audio/x-midi', 'audio/mid'],
  ['video/mp4', 'video/x-m4v', 'audio/mp4', 'audio/x-m4a', 'audio/m4a'],
  ['video/3gpp', 'audio/3gpp', 'video/3gpp2', 'audio/3gpp2'],
  ['video/webm', 'audio/webm'],
  ['video/matroska', 'video/x-matroska', 'audio/matroska', 'audio/x-matroska'],
  ['audio/ogg', 'video/ogg', 'application/ogg', 'audio/opus'],
  ['video/vnd.avi', 'video/x-msvideo', 'video/msvideo', 'video/avi'],
  ['video/x-ms-asf', 'audio/x-ms-asf', 'application/vnd.ms-asf', 'video/x-ms-wmv', 'audio/x-ms-wma'],
  ['video/mpeg', 'video/mp1s', 'video/mp2p'],
  ['font/woff', 'application/font-woff', 'application/x-font-woff'],
  ['font/ttf', 'font/sfnt', 'application/x-font-ttf'],
  ['font/otf', 'application/x-font-otf'],
  ['application/zip', 'application/x-zip-compressed'],
  ['application/gzip', 'application/x-gzip'],
  ['application/x-rar-compressed', 'application/vnd.rar', 'application/x-rar'],
] as const;

const firstNames: ReadonlyMap<string, string> = new Map(
  formatNames.flatMap((names) => names.map((name) => [name, names[0]])),
);

const formatOf = (type: string): string => firstNames.get(type) ?? type;

/** Types whose files have a signature; SVG is text. */
const hasSignature = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:pdf|zip|gzip)$)/;

/** Documents in a zip, or older ones in a compound file, which their first bytes do not always tell. */
const inContainer = /^application\/(?:vnd\.|epub\+zip|java-archive|msword)/;

const isTextual = /^text\/|[/+](?:json|xml)$/;

/** True for UTF-8 text, which may start like other formats: `BMI,weight`, `<?xml`. */
const readsAsText = (start: Uint8Array): boolean => {
  try {
    return !/[^\P{Cc}\t-\r]/u.test(new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true }));
  } catch {
    return false;
  }
};

const matchesType = (declared: string, found: string | undefined, start: Uint8Array): boolean => {
  if (found === undefined) return !hasSignature.test(declared);
  if (declared === 'application/octet-stream' || formatOf(declared) === formatOf(found)) return true;
  if (isTextual.test(declared)) return readsAsText(start);
  return (found === 'application/zip' || found === 'application/x-cfb') && inContainer.test(declared);
};

/** Throws 400 `CONTENT_TYPE_MISMATCH` if the first bytes do not match the declared type. */
export const requireDeclaredType = async (contentType: string, start: Uint8Array): Promise<void> => {
  const { mime } = (await fileTypeFromBuffer(start)) ?? {};
  const found = mime && bareType(mime);
  if (matchesType(bareType(contentType), found, start)) return;
  throw new AppError(
    'CONTENT_TYPE_MISMATCH',
    `The file was announced as ${contentType}, but its content is ${found ?? 'not'}. Upload it again with the correct contentType.`,
    { errors: [{ field: 'filePath', message: 'filePath leads to content of another type than was announced' }] },
  );
};
