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
  documentFilePrefix,
  type FileItem,
  fileItemKey,
  filePathOf,
  filePrefix,
  nameIn,
  type QuotaItem,
  quotaKey,
  refOf,
  shownFile,
  toFileDocument,
  type UploadItem,
  uploadPrefix,
} from './file-items.ts';
import { storageIdOf } from './storage-keys.ts';

/** Bytes; `null` for a customer's storage. */
export const storageLimit = ({ plan, storage }: Project): number | null =>
  storage.kind === 'managed' ? plans[plan].storageBytes : null;

/** Counters of the current storage, in one read. */
export const storageUsage = async (project: Project) => {
  const place = { projectId: project.id, storageId: storageIdOf(project.storage) };
  const { used = 0, held = 0, files = 0 } = (await get<QuotaItem>(quotaKey(place))) ?? {};
  return { used, held, limit: storageLimit(project), files };
};

const toStoredFile = (project: Project, item: FileItem) => {
  const path = filePathOf(project.id, filePrefix(storageIdOf(project.storage)), item);
  return {
    ...shownFile(path, item),
    url: addressOf(project, path, item.visibility),
    createdAt: new Date(item.confirmedAt),
  };
};

/** Parallel to `paths`. */
export const filesAt = async (
  project: Project,
  paths: readonly string[],
): Promise<readonly (FileItem | undefined)[]> =>
  paths.length === 0 ? [] : getTogether<FileItem>(paths.map((path) => fileItemKey(refOf(project, path))));

/** `filePath` must have passed `requireRef`. */
export const findFile = async (project: Project, filePath: string) => {
  const item = await get<FileItem>(fileItemKey(refOf(project, filePath)));
  return item && toStoredFile(project, item);
};

/** The table cannot skip: earlier pages are read too. */
const maxListed = 10_000;

const newest = (project: Project, count: number): Promise<FileItem[]> =>
  list({
    partition: projectScope(project.id),
    only: { prefix: filePrefix(storageIdOf(project.storage)) },
    most: count,
    newestFirst: true,
    stale: true,
  });

/** The document that a file belongs to. */
const documentOf = ({ of }: FileItem) => {
  if (of === undefined) return null;
  const { collection, id } = toFileDocument(of);
  return { collection, id };
};

/** Confirmed files, newest first, with their documents. Throws 400 `INVALID_QUERY` beyond the 10,000th. */
export const listFiles = async (project: Project, { page, limit }: PageRequest) => {
  if (page * limit > maxListed) {
    throw new AppError(
      'INVALID_QUERY',
      `page and limit go beyond the newest ${maxListed} files. Older files cannot be listed by page; use cursor.`,
    );
  }
  const [items, { files: total }] = await Promise.all([newest(project, page * limit), storageUsage(project)]);
  const shown = items.slice((page - 1) * limit);
  return {
    items: shown.map((item) => ({ ...toStoredFile(project, item), document: documentOf(item) })),
    ...{ total, page, limit },
  };
};

interface OwnFilesQuery {
  /** Prefix of the display name or of the name in the path. */
  readonly prefix?: string | undefined;
  readonly cursor?: string | undefined;
}

const pageSize = 50;

const shape = /^[0-9a-f-]{36}_[A-Za-z0-9._-]{1,100}$/;

const cursorOf = (tail: string): string => Buffer.from(tail).toString('base64url');

/** Throws 400 `INVALID_CURSOR`. */
const parseCursor = (cursor: string | undefined): string | undefined => {
  if (cursor === undefined) return undefined;
  const tail = Buffer.from(cursor, 'base64url').toString();
  if (shape.test(tail)) return tail;
  throw new AppError('INVALID_CURSOR', 'The cursor is not from this list. Start again without one.');
};

/** A page of the files with entries below `own`. Those that `isIn` excludes are left out after reading. */
const listBelow = async (
  project: Project,
  own: string,
  { prefix = '', cursor }: OwnFilesQuery,
  isIn: (item: FileItem) => boolean = () => true,
) => {
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
  const shown = found.flatMap((item) => (item && isIn(item) ? [toStoredFile(project, item)] : []));
  const beginning = prefix.normalize('NFC');
  const last = keys.length === pageSize ? tails.at(-1) : undefined;
  return {
    items: shown.filter(({ path, name }) => name.startsWith(beginning) || nameIn(path).startsWith(prefix)),
    ...(last !== undefined && { nextCursor: cursorOf(last) }),
  };
};

/** Up to 50, newest first. Names are filtered after reading, so a page may be short and have a `nextCursor`. */
export const listOwnFiles = (project: Project, userId: string, query: OwnFilesQuery) =>
  listBelow(project, sortPrefix(kinds.userFile, { storageId: storageIdOf(project.storage), userId }), query);

/** The files of a document that the caller may read, in the same way. Their owners are not shown. */
export const listDocumentFiles = async (project: Project, of: string, query: OwnFilesQuery) => {
  const below = documentFilePrefix(storageIdOf(project.storage), toFileDocument(of));
  const { items, ...rest } = await listBelow(project, below, query, (item) => item.of === of);
  return { items: items.map((item) => ({ ...item, owner: null })), ...rest };
};

/** The paths and documents of all files of a document, or without `id` of a collection, in the current storage. */
export const allDocumentFiles = async (
  project: Project,
  among: { readonly collection: string; readonly id?: string },
): Promise<readonly { readonly path: string; readonly id: string }[]> => {
  const prefix = documentFilePrefix(storageIdOf(project.storage), among);
  const all = documentFilePrefix(storageIdOf(project.storage), { collection: among.collection });
  const keys = await list<Key>({ partition: projectScope(project.id), only: { prefix }, keysOnly: true });
  return keys.map(({ sk }) => {
    const [id = '', ...tail] = sk.slice(all.length).split('#');
    return { id, path: `${project.id}/${tail.join('#')}` };
  });
};

/** Up to 50 unconfirmed uploads, newest first. */
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
