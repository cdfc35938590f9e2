import type { Caller, Project } from '../projects/project.ts';
import { itemKey, type Key, projectScope, sortPrefix } from '../table/item-key.ts';
import * as kinds from '../table/keys.ts';
import { fileNotFound, isPathOf, type Visibility } from './file-path.ts';
import { storageIdOf } from './storage-keys.ts';

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

/** A requested upload; `requestedAt` in ms since 1970. */
export type UploadItem = Key &
  Ownership & {
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
  /** Names of the sizes that are charged, and their bytes together. */
  readonly sizes?: ReadonlySet<string> | undefined;
  readonly sizeBytes?: number | undefined;
  /** Who has charged one and not said yet that it is there: see `kept-sizes.ts`. */
  readonly putting?: ReadonlySet<string> | undefined;
};

/** A confirmed file; `confirmedAt` in ms since 1970. `openedAt`, `movingUntil`, `mover`: see `move-file.ts`. */
export type FileItem = Key &
  Ownership &
  KeptSizes & {
    readonly bytes: number;
    readonly etag: string;
    readonly contentType: string;
    readonly confirmedAt: number;
    readonly openedAt?: number;
    readonly movingUntil?: number;
    readonly mover?: string;
    /** Why no size of it could be made, as an error code, and until when that is answered; see `make-size.ts`. */
    readonly unmade?: string | undefined;
    readonly unmadeUntil?: number | undefined;
  };

/** What a storage holds: reserved and confirmed bytes, confirmed bytes, confirmed files; sizes are confirmed bytes. */
export type QuotaItem = Key & {
  readonly held?: number;
  readonly used?: number;
  readonly files?: number;
};

/** The part of a path that sort keys contain: all of it after the project id. */
const tailOf = ({ projectId, filePath }: FileRef): string => filePath.slice(projectId.length + 1);

export const filePrefix = (storageId: string): string => sortPrefix(kinds.file, { storageId });

export const uploadKey = (ref: FileRef): Key =>
  itemKey(kinds.upload, projectScope(ref.projectId), { storageId: ref.storageId, path: tailOf(ref) });

export const fileItemKey = (ref: FileRef): Key =>
  itemKey(kinds.file, projectScope(ref.projectId), { storageId: ref.storageId, path: tailOf(ref) });

export const userFileKey = (ref: FileRef, userId: string): Key =>
  itemKey(kinds.userFile, projectScope(ref.projectId), { storageId: ref.storageId, userId, path: tailOf(ref) });

export const quotaKey = ({ projectId, storageId }: Pick<FileRef, 'projectId' | 'storageId'>): Key =>
  itemKey(kinds.storageQuota, projectScope(projectId), { storageId });

export const filePathOf = (projectId: string, storageId: string, { sk }: Key): string =>
  `${projectId}/${sk.slice(filePrefix(storageId).length)}`;
