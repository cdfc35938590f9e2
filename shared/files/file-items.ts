import { randomUUID } from 'node:crypto';
import { clock } from '../core/clock.ts';
import { fileSettings } from '../core/config.ts';
import { AppError } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import type { Run } from '../persistence/idempotency.ts';
import { itemKey, type Key, projectScope, sortPrefix } from '../persistence/item-keys.ts';
import * as kinds from '../persistence/table-keys.ts';
import type { Caller, Project } from '../projects/project.ts';
import { storageIdOf } from './storage-keys.ts';

const maxNameLength = 100;

const shape = /^([0-9a-f]{24})\/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}_(?!.*\.\.)([A-Za-z0-9._-]{1,100})$/;

/** At most 100 of `[A-Za-z0-9._-]`, without `..`: safe in paths and shells. */
export const sanitisedName = (filename: string): string => {
  const name = filename.replace(/[^A-Za-z0-9._-]/gu, '_').replace(/\.{2,}/g, '.');
  const [ending = ''] = /\.[A-Za-z0-9]{1,10}$/.exec(name) ?? [];
  return name.length <= maxNameLength
    ? name
    : name.slice(0, maxNameLength - ending.length).replace(/\.$/, '_') + ending;
};

/** UUID version 7: sorts by time, so that the newest files can be listed first. */
const sortableUuid = (ms: number, random: string): string => {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
};

/** A new `<project_id>/<uuid>_<sanitised name>` (contract 4); each run of a request with a key makes the same. */
export const newFilePath = (projectId: string, filename: string, run?: Pick<Run, 'seed' | 'begunAt'>): string =>
  `${projectId}/${sortableUuid(run?.begunAt ?? clock.now(), run?.seed ?? randomUUID())}_${sanitisedName(filename)}`;

export const fileNotFound = (): AppError =>
  new AppError(
    'FILE_NOT_FOUND',
    'File not found, or you may not read it. Send the path from the upload response, not the URL.',
  );

export const sizeMismatch = (size: number, stored: number): AppError =>
  new AppError('SIZE_MISMATCH', `size is ${size}, but the file was uploaded, or announced, with ${stored} bytes.`, {
    errors: [{ field: 'size', message: `size does not match the ${stored} bytes of the file` }],
  });

/** True if the text has the format of this project's paths. */
export const isPathOf = (projectId: string, text: string): boolean => shape.exec(text)?.[1] === projectId;

export const nameIn = (filePath: string): string => shape.exec(filePath)?.[2] ?? '';

/** Key of an upload that is not confirmed; nobody can read it. */
export const pendingKey = (filePath: string): string => `pending/${filePath}`;

/** Public files are readable by their address, private ones by signed links. */
export type Visibility = 'public' | 'private';

const folders = { public: 'files', private: 'private' } as const satisfies Record<Visibility, string>;

export const otherVisibility = (visibility: Visibility): Visibility => (visibility === 'public' ? 'private' : 'public');

/** Key of a confirmed file; nothing below `private/` is served without a signature. */
export const fileKey = (filePath: string, visibility: Visibility): string => `${folders[visibility]}/${filePath}`;

export const fileKeys = (filePath: string): string[] => [fileKey(filePath, 'public'), fileKey(filePath, 'private')];

/** The table holds its `upload` item (requested), then its `file` item (confirmed), then nothing. */
export interface FileRef {
  readonly projectId: string;
  /** See `storageIdOf`. */
  readonly storageId: string;
  readonly filePath: string;
}

export const refOf = ({ id, storage }: Project, filePath: string): FileRef => ({
  projectId: id,
  storageId: storageIdOf(storage),
  filePath,
});

/** Throws 404 `FILE_NOT_FOUND` for malformed paths and those of other projects. */
export const requireRef = (project: Project, text: string): FileRef => {
  if (!isPathOf(project.id, text)) throw fileNotFound();
  return refOf(project, text);
};

/**
 * `owner`: user id. Without `visibility` an item is public. `of`: the document that the file belongs to, as
 * `toFileDocument` reads it; then the owner only counts for limits.
 */
export type Ownership = {
  readonly owner?: string | undefined;
  readonly visibility?: Visibility | undefined;
  readonly of?: string | undefined;
};

/** A document with files. `since`: when it was created, in ms since 1970, because a client can use an id again. */
interface FileDocument {
  readonly collection: string;
  readonly id: string;
  readonly since: number;
}

export const fromFileDocument = ({ collection, id, since }: FileDocument): string => `${collection}#${id}#${since}`;

export const toFileDocument = (of: string): FileDocument => {
  const [collection = '', id = '', since = ''] = of.split('#');
  return { collection, id, since: Number(since) };
};

/** Users see only their own files. For files of documents the document decides instead. */
export const isHiddenFrom = ({ kind, userId }: Caller, { owner, of }: Ownership): boolean =>
  of !== undefined || (kind === 'publishable' && (userId === undefined || owner !== userId));

/** What a caller may do with files. */
export interface FileAccess {
  /** Returns the files that the caller may read. */
  readonly readable: <F extends Ownership>(files: readonly F[]) => Promise<ReadonlySet<F>>;
  /** Throws 404 `FILE_NOT_FOUND` for a hidden file, 403 if the caller may read its document but not change it. */
  readonly requireChange: (file: Ownership) => Promise<void>;
  /** The same before a file is confirmed; a hidden document is 404 `DOCUMENT_NOT_FOUND`. */
  readonly requireConfirm: (file: Ownership) => Promise<void>;
}

/** The dashboard's: developers use every file of their project. */
export const developerAccess: FileAccess = {
  readable: async (files) => new Set(files),
  requireChange: async () => undefined,
  requireConfirm: async () => undefined,
};

/** Without `name`, the name in the path counts. */
export type Named = { readonly name?: string | undefined };

export const shownName = (filePath: string, { name }: Named): string => name ?? nameIn(filePath);

export const shownFile = (filePath: string, item: UploadItem | FileItem) => ({
  path: filePath,
  name: shownName(filePath, item),
  size: item.bytes,
  contentType: item.contentType,
  visibility: item.visibility ?? 'public',
  owner: item.owner ?? null,
});

/** 1 if the item counts against its owner's limits: a user uploaded it with a publishable key. */
export type UserLimited = { readonly bounded?: 1 | undefined };

/** `requestedAt` in ms since 1970. */
export type UploadItem = Key &
  Ownership &
  Named &
  UserLimited & {
    readonly bytes: number;
    readonly contentType: string;
    readonly requestedAt: number;
    /** 1 if the content must still be checked against the declared type. */
    readonly unproven?: 1 | undefined;
    readonly uploadId?: string | undefined;
  };

export type FileVariants = {
  readonly sizes?: ReadonlySet<string> | undefined;
  /** Variants in the cache, as `name@time@bytes`. */
  readonly cached?: ReadonlySet<string> | undefined;
  /** Bytes of variants that an earlier version charged to the storage. */
  readonly sizeBytes?: number | undefined;
  /** Variants that are being written, as `name@until`. */
  readonly putting?: ReadonlySet<string> | undefined;
};

/** `confirmedAt` in ms since 1970. For `openedAt`, `movingUntil` and `mover` see `move-file.ts`. */
export type FileItem = Key &
  Ownership &
  Named &
  UserLimited &
  FileVariants & {
    readonly bytes: number;
    readonly etag: string;
    readonly contentType: string;
    readonly confirmedAt: number;
    readonly openedAt?: number;
    readonly movingUntil?: number;
    readonly mover?: string;
    /** Error code of an image without variants, and how long it is returned; see `images/draw.ts`. */
    readonly unmade?: string | undefined;
    readonly unmadeUntil?: number | undefined;
    /** The same for single variants, as `name@until@code`. */
    readonly unmadeSizes?: ReadonlySet<string> | undefined;
  };

/** Of a storage: `held` bytes (reserved and confirmed), `used` bytes and `files` (confirmed). */
export type QuotaItem = Key & {
  readonly held?: number;
  readonly used?: number;
  readonly files?: number;
};

/** Of a user: bytes and files (reserved and confirmed), and unconfirmed uploads. */
export type UserQuotaItem = Key & {
  readonly held?: number;
  readonly files?: number;
  readonly reservations?: number;
};

/** The part of a path after the project id. */
export const pathTail = ({ projectId, filePath }: FileRef): string => filePath.slice(projectId.length + 1);

export const filePrefix = (storageId: string): string => sortPrefix(kinds.file, { storageId });

export const uploadPrefix = (storageId: string): string => sortPrefix(kinds.upload, { storageId });

export const uploadKey = (ref: FileRef): Key =>
  itemKey(kinds.upload, projectScope(ref.projectId), { storageId: ref.storageId, path: pathTail(ref) });

export const fileItemKey = (ref: FileRef): Key =>
  itemKey(kinds.file, projectScope(ref.projectId), { storageId: ref.storageId, path: pathTail(ref) });

const userFileKey = (ref: FileRef, userId: string): Key =>
  itemKey(kinds.userFile, projectScope(ref.projectId), { storageId: ref.storageId, userId, path: pathTail(ref) });

/** The start of the keys of a document's files, or without `id` of a collection's. */
export const documentFilePrefix = (
  storageId: string,
  { collection, id }: { collection: string; id?: string },
): string => sortPrefix(kinds.documentFile, { storageId, collection, ...(id !== undefined && { id }) });

/** The entry of a confirmed file in the list of its document, or of its owner. */
export const listKeys = (ref: FileRef, { owner, of }: Ownership): readonly Key[] => {
  if (of === undefined) return owner === undefined ? [] : [userFileKey(ref, owner)];
  const { collection, id } = toFileDocument(of);
  const parts = { storageId: ref.storageId, collection, id, path: pathTail(ref) };
  return [itemKey(kinds.documentFile, projectScope(ref.projectId), parts)];
};

export const quotaKey = ({ projectId, storageId }: Pick<FileRef, 'projectId' | 'storageId'>): Key =>
  itemKey(kinds.storageQuota, projectScope(projectId), { storageId });

export const userQuotaKey = ({ projectId, storageId }: Pick<FileRef, 'projectId' | 'storageId'>, userId: string): Key =>
  itemKey(kinds.userQuota, projectScope(projectId), { storageId, userId });

export const filePathOf = (projectId: string, prefix: string, { sk }: Key): string =>
  `${projectId}/${sk.slice(prefix.length)}`;

/** UTF-16 units. */
const maxLength = 200;

/** Controls, line separators, lone surrogates and marks that change the direction of text. */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}\ufeff]/gu;

/** Keeps the extension. */
const shorten = (name: string): string => {
  if (name.length <= maxLength) return name;
  const [, stem = name, ending = ''] = /^(.+?)(\.[^.]{1,20})?$/su.exec(name) ?? [];
  return cutText(stem, maxLength - ending.length) + ending;
};

/** NFC, at most 200 characters, without controls and direction marks; slashes become `_`. May be empty. */
export const toDisplayName = (filename: string): string =>
  shorten(filename.replace(invisible, '').normalize('NFC').replace(/[/\\]/g, '_').trim()).trim();

/** RFC 8187. */
const encoded = (name: string): string =>
  encodeURIComponent(name).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * `Content-Disposition` to store (RFC 6266): an ASCII name for old clients, and the display name if it differs. The
 * files' origin changes `inline` to `attachment` where needed.
 */
export const dispositionOf = (filePath: string, file: Named): string => {
  const ascii = nameIn(filePath);
  const name = shownName(filePath, file);
  return `inline; filename="${ascii}"${name === ascii ? '' : `; filename*=UTF-8''${encoded(name)}`}`;
};

/** Without a trailing slash. */
export const filesOrigin = (): string => fileSettings().FILES_URL.replace(/\/+$/, '');

const publicUrl = ({ storage }: Project, filePath: string): string | null => {
  if (storage.kind === 'managed') return `${filesOrigin()}/${filePath}`;
  return storage.publicHost && `${storage.publicHost.replace(/\/+$/, '')}/${fileKey(filePath, 'public')}`;
};

/** Public URL of a confirmed file; `null` if it is private or the customer's storage has no public host. */
export const addressOf = (project: Project, filePath: string, visibility: Visibility = 'public'): string | null =>
  visibility === 'private' ? null : publicUrl(project, filePath);
