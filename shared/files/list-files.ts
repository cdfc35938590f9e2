import { AppError } from '../core/errors.ts';
import type { Page, PageRequest } from '../core/page.ts';
import type { Project } from '../projects/project.ts';
import { list } from '../table/item.ts';
import { projectScope } from '../table/item-key.ts';
import { type StoredFile, toStoredFile } from './find-file.ts';
import { storageIdOf } from './storage-keys.ts';
import { storageUsage } from './storage-usage.ts';
import { type FileItem, filePrefix } from './upload-items.ts';

/** The table cannot skip: what comes before a page is read too, so there is an end to it. */
const maxListed = 10_000;

/** The newest `count` files: their keys sort by the time of their request. */
const newest = (project: Project, count: number): Promise<FileItem[]> =>
  list({
    partition: projectScope(project.id),
    only: { prefix: filePrefix(storageIdOf(project.storage)) },
    most: count,
    newestFirst: true,
    stale: true,
  });

/** The confirmed files of the present storage, newest first; beyond the 10 000th → 400 `INVALID_QUERY`. */
export const listFiles = async (project: Project, { page, limit }: PageRequest): Promise<Page<StoredFile>> => {
  if (page * limit > maxListed) {
    throw new AppError(
      'INVALID_QUERY',
      `page and limit lead beyond the newest ${maxListed} files, which can be listed.`,
    );
  }
  const [items, { files: total }] = await Promise.all([newest(project, page * limit), storageUsage(project)]);
  return { items: items.slice((page - 1) * limit).map((item) => toStoredFile(project, item)), total, page, limit };
};
