import { describeError, log } from '../core/log.ts';
import { announced } from '../events/announced.ts';
import type { Caller, Project } from '../projects/project.ts';
import { bucketOf } from './bucket-of.ts';
import { fileKey, fileKeys, fileNotFound, isPathOf, pendingKey } from './file-path.ts';
import { findFile } from './list-files.ts';
import type { MultipartUpload } from './multipart-bucket.ts';
import { refOf } from './upload-items.ts';
import { discharge, expire, stateOf } from './upload-states.ts';

/** Takes a file out of the table and its size out of the quota; false where there is no such file (any more). */
const forget = async (project: Project, filePath: string, caller?: Caller): Promise<boolean> => {
  if (!isPathOf(project.id, filePath)) return false;
  const file = await findFile(project, filePath);
  if (!file || (caller?.kind === 'publishable' && file.owner !== caller.userId)) return false;
  const { size, contentType, visibility, owner } = file;
  const news = {
    event: 'file.deleted',
    thing: `file/${filePath}`,
    file: { size, contentType, visibility, isDeleted: true },
  } as const;
  return announced(project, news, () => discharge(refOf(project, filePath), size, owner), Boolean);
};

/** What has been uploaded to a path, confirmed or not: a later confirm finds nothing to publish. */
const objectsAt = (filePath: string): string[] => [pendingKey(filePath), ...fileKeys(filePath)];

/**
 * Removes the bytes of files that are deleted already. Where their storage does not do it now the sweep does: it was
 * told so with the deletion itself, which a failure here could not take back, and a repeat of which would find no file.
 */
const removeBytes = async (project: Project, filePaths: readonly string[], upload?: MultipartUpload): Promise<void> => {
  try {
    const bucket = await bucketOf(project);
    if (upload) await bucket.parts?.abort(upload);
    await bucket.remove(filePaths.flatMap(objectsAt));
  } catch (error) {
    const message = 'Bytes of deleted files wait for the sweep';
    log.warn({ message, project: project.id, error: describeError(error) });
  }
};

/** Gives up an upload in parts that is not confirmed, and what it has reserved; false where there is none. */
const giveUp = async (project: Project, filePath: string, caller?: Caller): Promise<boolean> => {
  if (project.storage.kind === 'managed' || !isPathOf(project.id, filePath)) return false;
  const ref = refOf(project, filePath);
  const state = await stateOf(ref);
  if (state?.uploadId === undefined || (caller?.kind === 'publishable' && state.owner !== caller.userId)) return false;
  const { uploadId, size, visibility } = state;
  if (!(await expire(ref, size))) return false;
  await removeBytes(project, [filePath], { key: fileKey(filePath, visibility), uploadId });
  return true;
};

/**
 * Deletes a confirmed file, of users their own, and frees what it was charged, once, or gives up an upload in parts
 * (contract 4). Malformed, foreign, unconfirmed otherwise or gone → 404 `FILE_NOT_FOUND`. Bytes that its storage does not remove in time are the sweep's.
 */
export const deleteFile = async (project: Project, filePath: string, caller?: Caller): Promise<void> => {
  if (await forget(project, filePath, caller)) await removeBytes(project, [filePath]);
  else if (!(await giveUp(project, filePath, caller))) throw fileNotFound();
};

/** Deletes up to 100 files as `deleteFile` does, their bytes in one go; a path that is no file stops no other. */
export const deleteFiles = async (project: Project, filePaths: readonly string[]) => {
  const deleted: string[] = [];
  const notFound: string[] = [];
  // All change the same counter, so side by side they would only get in each other's way.
  for (const filePath of new Set(filePaths)) {
    if (await forget(project, filePath)) deleted.push(filePath);
    else notFound.push(filePath);
  }
  await removeBytes(project, deleted);
  return { deleted, notFound };
};
