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

/** A file name of at most 100 of `[A-Za-z0-9._-]`, without `..`: nothing to a path, a shell or a reader's eye. */
export const sanitisedName = (filename: string): string => {
  const name = filename.replace(/[^A-Za-z0-9._-]/gu, '_').replace(/\.{2,}/g, '.');
  const [ending = ''] = /\.[A-Za-z0-9]{1,10}$/.exec(name) ?? [];
  return name.length <= maxNameLength
    ? name
    : name.slice(0, maxNameLength - ending.length).replace(/\.$/, '_') + ending;
};

/** A UUID (version 7) that sorts by the time it was made, so that the newest files of a project can be read first. */
const sortableUuid = (ms: number, random: string): string => {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
};

/** A new `<project_id>/<uuid>_<sanitised name>` (contract 4); each run of a request with a key makes the same. */
export const newFilePath = (projectId: string, filename: string, run?: Pick<Run, 'seed' | 'begunAt'>): string =>
  `${projectId}/${sortableUuid(run?.begunAt ?? clock.now(), run?.seed ?? randomUUID())}_${sanitisedName(filename)}`;

export const fileNotFound = (): AppError =>
  new AppError('FILE_NOT_FOUND', 'File not found. Send the path from the upload response, not the URL.');

/** 400 `SIZE_MISMATCH`: what was sent as `size`, and how many bytes it is. */
export const sizeMismatch = (size: number, stored: number): AppError =>
  new AppError('SIZE_MISMATCH', `size is ${size}, but the file was uploaded, or announced, with ${stored} bytes.`, {
    errors: [{ field: 'size', message: `size does not match the ${stored} bytes of the file` }],
  });

/** Whether a text is a path that this project may have given out. */
export const isPathOf = (projectId: string, text: string): boolean => shape.exec(text)?.[1] === projectId;

export const nameIn = (filePath: string): string => shape.exec(filePath)?.[2] ?? '';

/** Where an upload waits to be confirmed; nobody can read it there. */
export const pendingKey = (filePath: string): string => `pending/${filePath}`;

/** Who may read a confirmed file: anybody who knows its address, or who has a signed link. */
export type Visibility = 'public' | 'private';

const folders = { public: 'files', private: 'private' } as const satisfies Record<Visibility, string>;

export const otherThan = (visibility: Visibility): Visibility => (visibility === 'public' ? 'private' : 'public');

/** Where a confirmed file lies; nothing below `private/` is served without a signature. */
export const fileKey = (filePath: string, visibility: Visibility): string => `${folders[visibility]}/${filePath}`;

/** Everywhere that a file of a path may lie. */
export const fileKeys = (filePath: string): string[] => [fileKey(filePath, 'public'), fileKey(filePath, 'private')];

/** One path under one storage: in the table `upload` (requested), then `file` (confirmed), then nothing. */
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

/** The same of a text; malformed paths and those of other projects → 404 `FILE_NOT_FOUND`, as if there was no file. */
export const requireRef = (project: Project, text: string): FileRef => {
  if (!isPathOf(project.id, text)) throw fileNotFound();
  return refOf(project, text);
};

/** Whether a file, or an upload, is hidden from a caller: users have their own alone. */
export const isHiddenFrom = (caller: Caller | undefined, { owner }: Ownership): boolean =>
  caller?.kind === 'publishable' && owner !== caller.userId;

/** Whose a file is, the id of a user, and who may read it; an item without `visibility` is public. */
export type Ownership = {
  readonly owner?: string | undefined;
  readonly visibility?: Visibility | undefined;
};

/** What a file is called; an item without `name` is called what its path ends with. */
export type Named = { readonly name?: string | undefined };

/** What people are shown as the name of a file. */
export const shownName = (filePath: string, { name }: Named): string => name ?? nameIn(filePath);

/** What lists show of an upload and of a confirmed file alike. */
export const shownFile = (filePath: string, item: UploadItem | FileItem) => ({
  path: filePath,
  name: shownName(filePath, item),
  size: item.bytes,
  contentType: item.contentType,
  visibility: item.visibility ?? 'public',
  owner: item.owner ?? null,
});

/** 1 if an upload or file counts against what its owner may have, because a user made it with the publishable key. */
export type Bounded = { readonly bounded?: 1 | undefined };

/** A requested upload; `requestedAt` in ms since 1970. */
export type UploadItem = Key &
  Ownership &
  Named &
  Bounded & {
    readonly bytes: number;
    readonly contentType: string;
    readonly requestedAt: number;
    /** Whose content has to be what it was announced as: 1, as a user announced it. */
    readonly unproven?: 1 | undefined;
    /** The storage's id of its upload in parts, once that has begun. */
    readonly uploadId?: string | undefined;
  };

/** What is kept of a picture in other sizes. */
export type KeptSizes = {
  /** Names of the sizes that are kept. */
  readonly sizes?: ReadonlySet<string> | undefined;
  /** Those of them that the cache has, as `name@time@bytes`: see `images/variant-items.ts`. */
  readonly cached?: ReadonlySet<string> | undefined;
  /** Bytes of the others, which an earlier version has charged to the storage. */
  readonly sizeBytes?: number | undefined;
  /** Who has charged one and not said yet that it is there: see `images/store.ts`. */
  readonly putting?: ReadonlySet<string> | undefined;
};

/** A confirmed file; `confirmedAt` in ms since 1970. `openedAt`, `movingUntil`, `mover`: see `move-file.ts`. */
export type FileItem = Key &
  Ownership &
  Named &
  Bounded &
  KeptSizes & {
    readonly bytes: number;
    readonly etag: string;
    readonly contentType: string;
    readonly confirmedAt: number;
    readonly openedAt?: number;
    readonly movingUntil?: number;
    readonly mover?: string;
    /** Why no size of it could be made, as an error code, and until when that is answered; see `images/draw.ts`. */
    readonly unmade?: string | undefined;
    readonly unmadeUntil?: number | undefined;
    /** The same of single sizes, as `name@until@code`. */
    readonly unmadeSizes?: ReadonlySet<string> | undefined;
  };

/** What a storage holds: reserved and confirmed bytes, confirmed bytes, confirmed files. */
export type QuotaItem = Key & {
  readonly held?: number;
  readonly used?: number;
  readonly files?: number;
};

/** What a user has: bytes and files, reserved and confirmed, and uploads that are not confirmed. */
export type UserQuotaItem = Key & {
  readonly held?: number;
  readonly files?: number;
  readonly reservations?: number;
};

/** The part of a path that sort keys contain: all of it after the project id. */
export const tailOf = ({ projectId, filePath }: FileRef): string => filePath.slice(projectId.length + 1);

export const filePrefix = (storageId: string): string => sortPrefix(kinds.file, { storageId });

export const uploadPrefix = (storageId: string): string => sortPrefix(kinds.upload, { storageId });

export const uploadKey = (ref: FileRef): Key =>
  itemKey(kinds.upload, projectScope(ref.projectId), { storageId: ref.storageId, path: tailOf(ref) });

export const fileItemKey = (ref: FileRef): Key =>
  itemKey(kinds.file, projectScope(ref.projectId), { storageId: ref.storageId, path: tailOf(ref) });

export const userFileKey = (ref: FileRef, userId: string): Key =>
  itemKey(kinds.userFile, projectScope(ref.projectId), { storageId: ref.storageId, userId, path: tailOf(ref) });

export const quotaKey = ({ projectId, storageId }: Pick<FileRef, 'projectId' | 'storageId'>): Key =>
  itemKey(kinds.storageQuota, projectScope(projectId), { storageId });

export const userQuotaKey = ({ projectId, storageId }: Pick<FileRef, 'projectId' | 'storageId'>, userId: string): Key =>
  itemKey(kinds.userQuota, projectScope(projectId), { storageId, userId });

/** The path of an upload or a file, of which `prefix` is what sort keys of its kind begin with. */
export const filePathOf = (projectId: string, prefix: string, { sk }: Key): string =>
  `${projectId}/${sk.slice(prefix.length)}`;

/** UTF-16 units. */
const maxLength = 200;

/** Controls, line and paragraph separators, halves of characters, marks that change the direction of text. */
const invisible = /[\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{Bidi_Control}\ufeff]/gu;

/** Cuts a long name before its ending. */
const shorten = (name: string): string => {
  if (name.length <= maxLength) return name;
  const [, stem = name, ending = ''] = /^(.+?)(\.[^.]{1,20})?$/su.exec(name) ?? [];
  return cutText(stem, maxLength - ending.length) + ending;
};

/**
 * A file's name as its owner wrote it, for people: in NFC, of at most 200 characters, without controls and marks that
 * change the direction of text; slashes are `_`. Empty if nothing of it can be seen.
 */
export const toDisplayName = (filename: string): string =>
  shorten(filename.normalize('NFC').replace(invisible, '').replace(/[/\\]/g, '_').trim()).trim();

/** Percent-encoded UTF-8, as RFC 8187 writes it. */
const encoded = (name: string): string =>
  encodeURIComponent(name).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * The `Content-Disposition` that is stored with a file (RFC 6266): an ASCII name for old clients, and the display name
 * if it is another. Browsers decide what they show; the origin of hosted files changes `inline` to `attachment`.
 */
export const dispositionOf = (filePath: string, file: Named): string => {
  const ascii = nameIn(filePath);
  const name = shownName(filePath, file);
  return `inline; filename="${ascii}"${name === ascii ? '' : `; filename*=UTF-8''${encoded(name)}`}`;
};

/** Where the files of our bucket are read, without a slash at the end. */
export const filesOrigin = (): string => fileSettings().FILES_URL.replace(/\/+$/, '');

const publicUrl = ({ storage }: Project, filePath: string): string | null => {
  if (storage.kind === 'managed') return `${filesOrigin()}/${filePath}`;
  return storage.publicHost && `${storage.publicHost.replace(/\/+$/, '')}/${fileKey(filePath, 'public')}`;
};

/** Where anybody can read a confirmed file; `null` for a private one, or in a storage that has no public host. */
export const addressOf = (project: Project, filePath: string, visibility: Visibility = 'public'): string | null =>
  visibility === 'private' ? null : publicUrl(project, filePath);
