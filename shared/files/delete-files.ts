import { AppError } from '../core/errors.ts';
import { tryOrLog } from '../core/log.ts';
import { get } from '../persistence/table.ts';
import type { Caller, Project } from '../projects/project.ts';
import { withWebhookEvent } from '../webhooks/events.ts';
import { bucketOf } from './bucket-of.ts';
import {
  type FileItem,
  fileItemKey,
  fileKey,
  fileKeys,
  fileNotFound,
  isHiddenFrom,
  isPathOf,
  pendingKey,
  refOf,
} from './file-items.ts';
import { sizeKeys } from './images/store.ts';
import type { MultipartUpload } from './multipart.ts';
import { discharge, expire, stateOf, type UploadState } from './upload-states.ts';

/**
 * Takes a file out of the table and what it and its sizes have out of the quota. Returns the names of the sizes;
 * `undefined` where there is no such file (any more).
 */
const forget = async (project: Project, filePath: string, caller?: Caller) => {
  if (!isPathOf(project.id, filePath)) return undefined;
  const ref = refOf(project, filePath);
  const file = await get<FileItem>(fileItemKey(ref));
  if (!file || isHiddenFrom(caller, file)) return undefined;
  const { bytes: size, contentType, name, visibility = 'public' } = file;
  const news = {
    event: 'file.deleted',
    thing: `file/${filePath}`,
    file: { size, contentType, visibility, isDeleted: true, ...(name !== undefined && { name }) },
  } as const;
  return withWebhookEvent(project, news, () => discharge(ref, file), Boolean);
};

/** A path, and the sizes that were kept of its file. */
type Deleted = readonly [filePath: string, sizes: ReadonlySet<string>];

/** What has been uploaded to a path, confirmed or not: a later confirm finds nothing to publish. */
const objectsAt = ([filePath, sizes]: Deleted): string[] => [
  pendingKey(filePath),
  ...fileKeys(filePath),
  ...sizeKeys(filePath, sizes),
];

/**
 * Removes the bytes of files that are deleted already. Where their storage does not do it now the sweep does: it was
 * told so with the deletion itself, which a failure here could not take back, and a repeat of which would find no file.
 */
const removeBytes = async (project: Project, files: readonly Deleted[], upload?: MultipartUpload): Promise<void> => {
  await tryOrLog('warn', { message: 'Bytes of deleted files wait for the sweep', project: project.id }, async () => {
    const bucket = await bucketOf(project);
    if (upload) await bucket.parts?.abort(upload);
    await bucket.remove(files.flatMap(objectsAt));
  });
};

/** Ends an upload that is not confirmed, and what it has reserved; false where it is no longer requested. */
const endUpload = async (project: Project, filePath: string, state: UploadState): Promise<boolean> => {
  if (!(await expire(refOf(project, filePath), state))) return false;
  const { uploadId, visibility } = state;
  const upload = uploadId === undefined ? undefined : { key: fileKey(filePath, visibility), uploadId };
  await removeBytes(project, [[filePath, new Set()]], upload);
  return true;
};

/** Gives up an upload in parts that is not confirmed, and what it has reserved; false where there is none. */
const giveUp = async (project: Project, filePath: string, caller?: Caller): Promise<boolean> => {
  if (project.storage.kind === 'managed' || !isPathOf(project.id, filePath)) return false;
  const ref = refOf(project, filePath);
  const state = await stateOf(ref);
  if (state?.uploadId === undefined || isHiddenFrom(caller, state)) return false;
  return endUpload(project, filePath, state);
};

/**
 * Deletes a confirmed file, of users their own, and frees what it was charged, once, or gives up an upload in parts
 * (contract 4). Malformed, foreign, unconfirmed otherwise or gone → 404 `FILE_NOT_FOUND`. Bytes that its storage does
 * not remove in time are the sweep's.
 */
export const deleteFile = async (project: Project, filePath: string, caller?: Caller): Promise<void> => {
  const sizes = await forget(project, filePath, caller);
  if (sizes) await removeBytes(project, [[filePath, sizes]]);
  else if (!(await giveUp(project, filePath, caller))) throw fileNotFound();
};

/** Deletes up to 100 files as `deleteFile` does, their bytes in one go; a path that is no file stops no other. */
export const deleteFiles = async (project: Project, filePaths: readonly string[]) => {
  const deleted: Deleted[] = [];
  const notFound: string[] = [];
  // All change the same counter, so side by side they would only get in each other's way.
  for (const filePath of new Set(filePaths)) {
    const sizes = await forget(project, filePath);
    if (sizes) deleted.push([filePath, sizes]);
    else notFound.push(filePath);
  }
  await removeBytes(project, deleted);
  return { deleted: deleted.map(([filePath]) => filePath), notFound };
};

/**
 * Ends an upload that is not confirmed, for the owner of the project: what it reserved is free, and what arrived is
 * removed. None at this path → 404 `FILE_NOT_FOUND`.
 */
export const endReservation = async (project: Project, filePath: string): Promise<void> => {
  const state = isPathOf(project.id, filePath) ? await stateOf(refOf(project, filePath)) : undefined;
  if (state?.kind === 'requested' && (await endUpload(project, filePath, state))) return;
  throw new AppError('FILE_NOT_FOUND', 'There is no open upload at this path. It may be confirmed, or have ended.');
};
