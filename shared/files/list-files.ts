import { AppError } from '../core/errors.ts';
import type { PageRequest } from '../core/values.ts';
import { type Key, projectScope, sortPrefix } from '../persistence/item-keys.ts';
import { get, getTogether, list } from '../persistence/table.ts';
import * as kinds from '../persistence/table-keys.ts';
import { plans } from '../projects/plans.ts';
import type { Project } from '../projects/project.ts';
import { reservationMs } from './due-uploads.ts';
import {
  addressOf,
  type FileItem,
  fileItemKey,
  filePathOf,
  filePrefix,
  nameIn,
  type QuotaItem,
  quotaKey,
  refOf,
  shownFile,
  type UploadItem,
  uploadPrefix,
} from './file-items.ts';
import { storageIdOf } from './storage-keys.ts';

/** Bytes that the files of a project may have together; `null` for storage of its own. */
export const storageLimit = ({ plan, storage }: Project): number | null =>
  storage.kind === 'managed' ? plans[plan].storageBytes : null;

/** The counter of the storage that the project has now. One read. */
export const storageUsage = async (project: Project) => {
  const place = { projectId: project.id, storageId: storageIdOf(project.storage) };
  const { used = 0, held = 0, files = 0 } = (await get<QuotaItem>(quotaKey(place))) ?? {};
  return { used, held, limit: storageLimit(project), files };
};

/** A confirmed file as it is shown. */
const toStoredFile = (project: Project, item: FileItem) => {
  const path = filePathOf(project.id, filePrefix(storageIdOf(project.storage)), item);
  return {
    ...shownFile(path, item),
    url: addressOf(project, path, item.visibility),
    createdAt: new Date(item.confirmedAt),
  };
};

/** The confirmed files at such paths, all read at once. */
export const filesAt = async (
  project: Project,
  paths: readonly string[],
): Promise<readonly (FileItem | undefined)[]> =>
  paths.length === 0 ? [] : getTogether<FileItem>(paths.map((path) => fileItemKey(refOf(project, path))));

/** The confirmed file at a path that `requireRef` lets through. */
export const findFile = async (project: Project, filePath: string) => {
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
export const listFiles = async (project: Project, { page, limit }: PageRequest) => {
  if (page * limit > maxListed) {
    throw new AppError(
      'INVALID_QUERY',
      `page and limit go beyond the newest ${maxListed} files. Older files cannot be listed by page; use cursor.`,
    );
  }
  const [items, { files: total }] = await Promise.all([newest(project, page * limit), storageUsage(project)]);
  return { items: items.slice((page - 1) * limit).map((item) => toStoredFile(project, item)), total, page, limit };
};

interface OwnFilesQuery {
  /** What names begin with, or the names in the paths. */
  readonly prefix?: string | undefined;
  /** Of the page before. */
  readonly cursor?: string | undefined;
}

const pageSize = 50;

/** The end of a path, after its project. */
const shape = /^[0-9a-f-]{36}_[A-Za-z0-9._-]{1,100}$/;

/** Leads to what comes after a path, of which `tail` is the end. */
const cursorOf = (tail: string): string => Buffer.from(tail).toString('base64url');

/** The end of the last path of a page; others → 400 `INVALID_CURSOR`. */
const parseCursor = (cursor: string | undefined): string | undefined => {
  if (cursor === undefined) return undefined;
  const tail = Buffer.from(cursor, 'base64url').toString();
  if (shape.test(tail)) return tail;
  throw new AppError('INVALID_CURSOR', 'The cursor is not from this list. Start again without one.');
};

/**
 * Up to 50 confirmed files of a user in the present storage, newest first, whose names begin with `prefix`. A page may
 * have fewer, or none, and still have a `nextCursor`: names are compared after a page was read.
 */
export const listOwnFiles = async (project: Project, userId: string, { prefix = '', cursor }: OwnFilesQuery) => {
  const own = sortPrefix(kinds.userFile, { storageId: storageIdOf(project.storage), userId });
  const after = parseCursor(cursor);
  const keys = await list<Key>({
    partition: projectScope(project.id),
    only: after === undefined ? { prefix: own } : { from: own, before: `${own}${after}` },
    newestFirst: true,
    most: pageSize,
  });
  const tails = keys.map(({ sk }) => sk.slice(own.length));
  const found = await filesAt(
    project,
    tails.map((tail) => `${project.id}/${tail}`),
  );
  const shown = found.flatMap((item) => (item ? [toStoredFile(project, item)] : []));
  const beginning = prefix.normalize('NFC');
  const last = keys.length === pageSize ? tails.at(-1) : undefined;
  return {
    items: shown.filter(({ path, name }) => name.startsWith(beginning) || nameIn(path).startsWith(prefix)),
    ...(last !== undefined && { nextCursor: cursorOf(last) }),
  };
};

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
