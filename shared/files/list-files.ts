import { AppError } from '../core/errors.ts';
import type { Page, PageRequest } from '../core/page.ts';
import { plans } from '../projects/plans.ts';
import type { Project } from '../projects/project.ts';
import { get, list } from '../table/item.ts';
import { projectScope } from '../table/item-key.ts';
import { publicUrl } from './bucket-of.ts';
import { nameIn } from './file-path.ts';
import { storageIdOf } from './storage-keys.ts';
import { type FileItem, fileItemKey, filePathOf, filePrefix, type QuotaItem, quotaKey, refOf } from './upload-items.ts';

/** How much of its storage a project uses, in bytes. */
interface StorageUsage {
  /** Confirmed files. */
  readonly used: number;
  /** Confirmed files, and uploads that were requested and have neither been confirmed nor expired. */
  readonly held: number;
  /** `null` for storage of the project's own. */
  readonly limit: number | null;
  readonly files: number;
}

/** Bytes that the files of a project may have together; `null` for storage of its own. */
export const storageLimit = ({ plan, storage }: Project): number | null =>
  storage.kind === 'managed' ? plans[plan].storageBytes : null;

/** The counter of the storage that the project has now. One read. */
export const storageUsage = async (project: Project): Promise<StorageUsage> => {
  const place = { projectId: project.id, storageId: storageIdOf(project.storage) };
  const { used = 0, held = 0, files = 0 } = (await get<QuotaItem>(quotaKey(place))) ?? {};
  return { used, held, limit: storageLimit(project), files };
};

interface StoredFile {
  readonly path: string;
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  readonly contentType: string;
  readonly url: string | null;
  readonly createdAt: Date;
}

const toStoredFile = (project: Project, item: FileItem): StoredFile => {
  const path = filePathOf(project.id, storageIdOf(project.storage), item);
  return {
    path,
    name: nameIn(path),
    size: item.bytes,
    contentType: item.contentType,
    url: publicUrl(project, path),
    createdAt: new Date(item.confirmedAt),
  };
};

/** The confirmed file at a path that `requirePathOf` lets through. */
export const findFile = async (project: Project, filePath: string): Promise<StoredFile | undefined> => {
  const item = await get<FileItem>(fileItemKey(refOf(project, filePath)));
  return item && toStoredFile(project, item);
};

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
