import { AppError } from '../core/errors.ts';
import { tryOrLog } from '../core/log.ts';
import { get } from '../persistence/table.ts';
import type { Project } from '../projects/project.ts';
import { withWebhookEvent } from '../webhooks/events.ts';
import { bucketOf } from './bucket-of.ts';
import {
  developerAccess,
  type FileAccess,
  type FileItem,
  fileItemKey,
  fileKey,
  fileKeys,
  fileNotFound,
  isPathOf,
  pendingKey,
  refOf,
} from './file-items.ts';
import { variantObjectKeys } from './images/store.ts';
import type { MultipartUpload } from './multipart.ts';
import { expire, refundFile, stateOf, type UploadState } from './upload-states.ts';

/** Returns the names of the file's image variants; `undefined` if there is no such file. */
const deleteItem = async (project: Project, filePath: string, access: FileAccess) => {
  if (!isPathOf(project.id, filePath)) return undefined;
  const ref = refOf(project, filePath);
  const file = await get<FileItem>(fileItemKey(ref));
  if (!file) return undefined;
  await access.requireChange(file);
  const { bytes: size, contentType, name, visibility = 'public' } = file;
  const news = {
    event: 'file.deleted',
    thing: `file/${filePath}`,
    file: { size, contentType, visibility, isDeleted: true, ...(name !== undefined && { name }) },
  } as const;
  return withWebhookEvent(project, news, () => refundFile(ref, file), Boolean);
};

type Deleted = readonly [filePath: string, sizes: ReadonlySet<string>];

/** Includes pending objects, so that a later confirmation finds nothing to publish. */
const objectsAt = ([filePath, sizes]: Deleted): string[] => [
  pendingKey(filePath),
  ...fileKeys(filePath),
  ...variantObjectKeys(filePath, sizes),
];

/** Bytes that cannot be removed now are left to the cleanup, which the deletion has already scheduled. */
const removeBytes = async (project: Project, files: readonly Deleted[], upload?: MultipartUpload): Promise<void> => {
  await tryOrLog('warn', { message: 'Bytes of deleted files wait for the sweep', project: project.id }, async () => {
    const bucket = await bucketOf(project);
    if (upload) await bucket.parts?.abort(upload);
    await bucket.remove(files.flatMap(objectsAt));
  });
};

/** False if the upload is not requested any more. */
const endUpload = async (project: Project, filePath: string, state: UploadState): Promise<boolean> => {
  if (!(await expire(refOf(project, filePath), state))) return false;
  const { uploadId, visibility } = state;
  const upload = uploadId === undefined ? undefined : { key: fileKey(filePath, visibility), uploadId };
  await removeBytes(project, [[filePath, new Set()]], upload);
  return true;
};

/** Ends an upload in parts that is not confirmed; false if there is none. */
const abortUpload = async (project: Project, filePath: string, access: FileAccess): Promise<boolean> => {
  if (project.storage.kind === 'managed' || !isPathOf(project.id, filePath)) return false;
  const ref = refOf(project, filePath);
  const state = await stateOf(ref);
  if (state?.uploadId === undefined) return false;
  await access.requireChange(state);
  return endUpload(project, filePath, state);
};

/** Deletes a file, or ends an upload in parts. Throws 404 `FILE_NOT_FOUND`, 403 without the right to change it. */
export const deleteFile = async (
  project: Project,
  filePath: string,
  access: FileAccess = developerAccess,
): Promise<void> => {
  const sizes = await deleteItem(project, filePath, access);
  if (sizes) await removeBytes(project, [[filePath, sizes]]);
  else if (!(await abortUpload(project, filePath, access))) throw fileNotFound();
};

/** Deletes up to 100 files; paths without a file are returned in `notFound`. */
export const deleteFiles = async (project: Project, filePaths: readonly string[]) => {
  const deleted: Deleted[] = [];
  const notFound: string[] = [];
  // Sequential, because all change the same counter.
  for (const filePath of new Set(filePaths)) {
    const sizes = await deleteItem(project, filePath, developerAccess);
    if (sizes) deleted.push([filePath, sizes]);
    else notFound.push(filePath);
  }
  await removeBytes(project, deleted);
  return { deleted: deleted.map(([filePath]) => filePath), notFound };
};

/** Ends an unconfirmed upload for the project's owner. Throws 404 `FILE_NOT_FOUND`. */
export const endReservation = async (project: Project, filePath: string): Promise<void> => {
  const state = isPathOf(project.id, filePath) ? await stateOf(refOf(project, filePath)) : undefined;
  if (state?.kind === 'requested' && (await endUpload(project, filePath, state))) return;
  throw new AppError('FILE_NOT_FOUND', 'There is no open upload at this path. It may be confirmed, or have ended.');
};
