import { describeError, log } from '../core/log.ts';
import { announced } from '../events/announced.ts';
import type { Caller, Project } from '../projects/project.ts';
import { bucketOf } from './bucket-of.ts';
import { fileKeys, fileNotFound, isPathOf, pendingKey } from './file-path.ts';
import { findFile } from './list-files.ts';
import { refOf } from './upload-items.ts';
import { discharge } from './upload-states.ts';

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
const removeBytes = async (project: Project, filePaths: readonly string[]): Promise<void> => {
  try {
    await (await bucketOf(project)).remove(filePaths.flatMap(objectsAt));
  } catch (error) {
    const message = 'Bytes of deleted files wait for the sweep';
    log.warn({ message, project: project.id, error: describeError(error) });
  }
};

/**
 * Deletes a confirmed file, of users their own, and frees what it was charged, once (contract 4). Malformed, foreign,
 * unconfirmed or gone → 404 `FILE_NOT_FOUND`. Bytes that its storage does not remove in time are the sweep's.
 */
export const deleteFile = async (project: Project, filePath: string, caller?: Caller): Promise<void> => {
  if (!(await forget(project, filePath, caller))) throw fileNotFound();
  await removeBytes(project, [filePath]);
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
