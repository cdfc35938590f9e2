import { fileTypeFromBuffer } from 'file-type';
import { AppError, isClientError } from '../core/errors.ts';
import type { Caller, Project } from '../projects/project.ts';
import { bareType } from '../projects/user-settings.ts';
import { withWebhookEvent } from '../webhooks/events.ts';
import type { Bucket, StoredObject } from './bucket.ts';
import { bucketOf } from './bucket-of.ts';
import {
  addressOf,
  dispositionOf,
  type FileRef,
  fileKey,
  fileNotFound,
  isHiddenFrom,
  type Named,
  type Ownership,
  pendingKey,
  requireRef,
  shownName,
  sizeMismatch,
} from './file-items.ts';
import { type MultipartUpload, sortParts } from './multipart.ts';
import { confirmCharge, expire, stateOf, type UploadState } from './upload-states.ts';

/** Requires the state `confirmed` with this size; any other state is the caller's mistake, or not ready yet. */
const requireConfirmed = (state: UploadState | undefined, size: number): void => {
  if (!state) throw fileNotFound();
  if (state.kind === 'requested') {
    const message = 'The file has not arrived yet. Finish the upload to the signed URL, then try again.';
    throw new AppError('UPLOAD_NOT_READY', message, { retryAfter: 1 });
  }
  if (state.size !== size) throw sizeMismatch(size, state.size);
};

/**
 * Puts the version of the upload that is pending now to where the file belongs, if nothing is there yet: whichever copy
 * comes first stays. Returns what is there; `null` where there is nothing and nothing to copy.
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
 * Makes the parts of an upload the object at `key`, as soon as all are there and if nothing is there yet. Returns what
 * is there, and whether this has put it there; `null` where parts are missing, or were replaced meanwhile.
 */
const publishParts = async (bucket: Required<Bucket>, upload: MultipartUpload, size: number) => {
  const parts = await bucket.parts.list(upload);
  const { arrived, missing } = sortParts(size, parts ?? []);
  if (parts && missing.length > 0) return null;
  const copied = parts !== undefined && (await bucket.parts.complete(upload, arrived)) === 'completed';
  // Without an upload another confirmation has put it there; which may be charged by now, or not.
  const stored = await bucket.head(upload.key);
  return stored && { stored, copied };
};

/** Charges the published object, or removes it again if the path is no longer available. */
const settle = async (
  bucket: Bucket,
  ref: FileRef,
  requested: UploadState,
  { stored, copied }: { readonly stored: StoredObject; readonly copied: boolean },
  size: number,
): Promise<void> => {
  if (stored.size !== size) throw sizeMismatch(size, stored.size);
  const state = await confirmCharge(ref, stored, requested);
  // What another confirmation has charged is elsewhere by now, or this copy would not have been made.
  const isLeft = !state || (copied && (state.kind === 'requested' || state.visibility !== requested.visibility));
  if (isLeft) await bucket.remove([fileKey(ref.filePath, requested.visibility)]);
  if (state?.kind === 'requested') throw sizeMismatch(size, state.size);
  requireConfirmed(state, size);
};

/** There is no `url` of a private file and, with a warning, where the project's own storage has no public host. */
const answer = (project: Project, path: string, { visibility = 'public', name }: Ownership & Named = {}) => {
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
  /** Who confirms: users confirm their own uploads alone. */
  readonly caller?: Caller;
  /** Refuses content that is not what a user announced. */
  readonly prove?: (bucket: Bucket, key: string, stored: StoredObject) => Promise<void>;
}

/** Puts a requested upload to where the file belongs; `null` where it has not arrived, or not all of it. */
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
  // Only what is put together can be looked at, which nobody has a link to until it is charged.
  try {
    await prove(bucket, key, published.stored);
  } catch (error) {
    // A storage that does not answer has said nothing against it, and what is confirmed meanwhile is a file.
    if (isClientError(error) && (await expire(ref, state))) await bucket.remove([key]);
    throw error;
  }
  return published;
};

/**
 * Step three of an upload (contract 4): makes a file of it and charges its size, once, however often it is confirmed.
 * Not uploaded yet → 409 `UPLOAD_NOT_READY`; another size than uploaded → 400 `SIZE_MISMATCH`; malformed, foreign,
 * never requested, expired or deleted → 404 `FILE_NOT_FOUND`.
 */
export const confirmUpload = async (
  project: Project,
  filePath: string,
  size: number,
  { caller, prove }: ConfirmOptions = {},
) => {
  const ref = requireRef(project, filePath);
  const bucket = await bucketOf(project);
  // A path that is confirmed gets no copy again: the file may have been made private since.
  const [state, pending] = await Promise.all([stateOf(ref), bucket.head(pendingKey(filePath))]);
  if (state && isHiddenFrom(caller, state)) throw fileNotFound();
  if (state?.kind === 'requested' && (pending || state.uploadId !== undefined)) {
    const published = await publishRequested(ref, { bucket, state, pending }, size, prove);
    const news = { event: 'file.confirmed', thing: `file/${filePath}` } as const;
    if (published) await withWebhookEvent(project, news, () => settle(bucket, ref, state, published, size));
    else requireConfirmed(await stateOf(ref), size);
  } else requireConfirmed(state, size);
  return answer(project, filePath, state);
};

/** As many bytes as tell what a file is. */
export const tellingBytes = 4100;

/**
 * Names of one format, and of formats of which the beginning does not tell one from the other, such as sound from films
 * in the same container; each line is taken for its first name.
 */
const alike = [
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
  alike.flatMap((names) => names.map((name) => [name, names[0]])),
);

const formatOf = (type: string): string => firstNames.get(type) ?? type;

/** Types whose files begin with something that tells them; SVG is text. */
const tellsItself = /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:pdf|zip|gzip)$)/;

/** Documents in a zip or, as older ones, in a compound file, which their beginning does not always tell. */
const inContainer = /^application\/(?:vnd\.|epub\+zip|java-archive|msword)/;

const isTextual = /^text\/|[/+](?:json|xml)$/;

/** Whether bytes are those of text (UTF-8), which may begin with what tells other formats: `BMI,weight`, `<?xml`. */
const readsAsText = (start: Uint8Array): boolean => {
  try {
    return !/[^\P{Cc}\t-\r]/u.test(new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true }));
  } catch {
    return false;
  }
};

const fits = (declared: string, found: string | undefined, start: Uint8Array): boolean => {
  if (found === undefined) return !tellsItself.test(declared);
  if (declared === 'application/octet-stream' || formatOf(declared) === formatOf(found)) return true;
  if (isTextual.test(declared)) return readsAsText(start);
  return (found === 'application/zip' || found === 'application/x-cfb') && inContainer.test(declared);
};

/** Refuses a file whose beginning is not that of its declared type: 400 `CONTENT_TYPE_MISMATCH`. */
export const requireDeclaredType = async (contentType: string, start: Uint8Array): Promise<void> => {
  const { mime } = (await fileTypeFromBuffer(start)) ?? {};
  const found = mime && bareType(mime);
  if (fits(bareType(contentType), found, start)) return;
  throw new AppError(
    'CONTENT_TYPE_MISMATCH',
    `The file was announced as ${contentType}, but its content is ${found ?? 'not'}. Upload it again with the type that it has.`,
    { errors: [{ field: 'filePath', message: 'filePath leads to content of another type than was announced' }] },
  );
};
