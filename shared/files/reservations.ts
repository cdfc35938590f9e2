import { AppError } from '../core/errors.ts';
import { projectScope } from '../persistence/item-keys.ts';
import { list } from '../persistence/table.ts';
import type { Project } from '../projects/project.ts';
import { endUpload } from './delete-files.ts';
import { reservationMs } from './due-uploads.ts';
import { filePathOf, isPathOf, refOf, shownFile, type UploadItem, uploadPrefix } from './file-items.ts';
import { cursorOf, parseCursor } from './list-files.ts';
import { storageIdOf } from './storage-keys.ts';
import { stateOf } from './upload-states.ts';

const pageSize = 50;

/** Up to 50 uploads of the present storage that are not confirmed, newest first. */
export const listReservations = async (project: Project, { cursor }: { readonly cursor?: string | undefined }) => {
  const storageId = storageIdOf(project.storage);
  const prefix = uploadPrefix(storageId);
  const after = parseCursor(cursor);
  const found = await list<UploadItem>({
    partition: projectScope(project.id),
    only: after === undefined ? { prefix } : { from: prefix, before: `${prefix}${after}` },
    newestFirst: true,
    most: pageSize,
  });
  const items = found.map((item) => {
    const path = filePathOf(project.id, prefix, item);
    return {
      ...shownFile(path, item),
      createdAt: new Date(item.requestedAt),
      endsAt: new Date(item.requestedAt + reservationMs(storageId)),
    };
  });
  const last = found.length === pageSize ? found.at(-1) : undefined;
  return { items, ...(last && { nextCursor: cursorOf(last.sk.slice(prefix.length)) }) };
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
