import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { Update } from '../persistence/dynamo.ts';
import type { Key } from '../persistence/item-keys.ts';
import { type Found, getTogether, transact } from '../persistence/table.ts';
import type { StoredObject } from './bucket.ts';
import { putDueEntry } from './due-uploads.ts';
import {
  type Bounded,
  type FileItem,
  type FileRef,
  fileItemKey,
  type KeptSizes,
  type Named,
  type Ownership,
  quotaKey,
  type UploadItem,
  type UserQuotaItem,
  uploadKey,
  userFileKey,
  userQuotaKey,
  type Visibility,
} from './file-items.ts';
import { asRead, cachedOf, namesOf, removeVariants, whenPut } from './images/variant-items.ts';
import type { MultipartUpload } from './multipart.ts';

/**
 * The life of a path: requested → confirmed → deleted, or requested → expired. Each move is one transaction, which
 * takes the path from one item to the next and the quota along; there is no way back, and no path is given out twice.
 */
export interface UploadState extends KeptSizes, Named {
  readonly kind: 'requested' | 'confirmed';
  readonly size: number;
  readonly visibility: Visibility;
  /** The user whose file it is. */
  readonly owner: string | undefined;
  readonly bounded: Bounded['bounded'];
  /** Whether its content has yet to be looked at. */
  readonly isUnproven: boolean;
  readonly contentType: string;
  /** The storage's id of its upload in parts, of a requested one for which that has begun. */
  readonly uploadId: string | undefined;
  /** When it was requested, in ms since 1970; `undefined` of a confirmed file. */
  readonly requestedAt: number | undefined;
}

const given = 'attribute_exists(pk)';

const add = (update: Key, values: Readonly<Record<string, number>>): Update => ({
  update,
  change: `ADD ${Object.keys(values)
    .map((name) => `${name} :${name}`)
    .join(', ')}`,
  values,
});

/** Changes the quota of a path's storage by the given amounts. */
export const count = (ref: FileRef, values: Readonly<Record<string, number>>): Update => add(quotaKey(ref), values);

type Owned = Pick<Ownership, 'owner'> & Bounded;

/** Changes what is counted for the user who made an upload; nothing for uploads with the secret key. */
const countUser = (ref: FileRef, { owner, bounded }: Owned, values: Readonly<Record<string, number>>): Update[] =>
  bounded && owner !== undefined ? [add(userQuotaKey(ref, owner), values)] : [];

/** What one user may have in a storage; `bytes` is `null` for any number. */
export interface UserLimits {
  readonly bytes: number | null;
  readonly files: number;
  readonly reservations: number;
}

/** Reserves for a user, unless that is more than one may have. */
const reserveForUser = (ref: FileRef, owned: Owned, size: number, { bytes, files, reservations }: UserLimits) => {
  const room = bytes === null ? [] : ['(attribute_not_exists(held) OR held <= :room)'];
  const fewer = ['files', 'reservations'].map((name) => `(attribute_not_exists(${name}) OR ${name} < :max_${name})`);
  return countUser(ref, owned, { held: size, files: 1, reservations: 1 }).map((counted) => ({
    ...counted,
    condition: [...room, ...fewer].join(' AND '),
    values: {
      ...counted.values,
      max_files: files,
      max_reservations: reservations,
      room: bytes === null ? undefined : bytes - size,
    },
  }));
};

/** Why nothing was reserved: the storage has no room, or the user already `has` what one user may have. */
type Full = { readonly of: 'storage' } | { readonly of: 'user'; readonly has: UserQuotaItem | undefined };

/** Room of a storage in bytes (`null` for any number), and what the user who reserves may have. */
interface ReserveLimits {
  readonly storage: number | null;
  readonly user: UserLimits;
}

/**
 * → requested: takes `size` bytes of the quota of the storage and, if a user asks, of their own; nothing if an earlier
 * run of the same request has reserved the path.
 */
export const reserve = async (
  ref: FileRef,
  upload: Ownership & Pick<UploadItem, 'contentType' | 'unproven' | 'bounded' | 'name'> & { readonly size: number },
  { storage: limit, user }: ReserveLimits,
): Promise<Full | undefined> => {
  const { size, ...announced } = upload;
  if (limit !== null && size > limit) return { of: 'storage' };
  const forUser = reserveForUser(ref, upload, size, user);
  if (forUser.length > 0 && user.bytes !== null && size > user.bytes) return { of: 'user', has: undefined };
  const counted = count(ref, { held: size });
  const item: UploadItem = { ...uploadKey(ref), bytes: size, ...announced, requestedAt: clock.now() };
  const refusal = await transact<UserQuotaItem>([
    ...forUser,
    limit === null
      ? counted
      : {
          ...counted,
          condition: 'attribute_not_exists(held) OR held <= :room',
          values: { ...counted.values, room: limit - size },
        },
    { put: item, condition: 'attribute_not_exists(pk)' },
    putDueEntry(ref, 'requested'),
  ]);
  if (!refusal || refusal.at(-2)?.refused) return undefined;
  const [first] = refusal;
  return forUser.length > 0 && first?.refused ? { of: 'user', has: first.item } : { of: 'storage' };
};

type Known =
  | (Ownership &
      Named &
      Bounded &
      KeptSizes &
      Pick<UploadItem, 'bytes' | 'unproven' | 'contentType' | 'uploadId'> &
      Partial<Pick<UploadItem, 'requestedAt'>>)
  | undefined;

const stateFrom = ([upload, file]: readonly Known[]): UploadState | undefined => {
  const found = file ?? upload;
  if (!found) return undefined;
  const {
    bytes: size,
    visibility = 'public',
    owner,
    name,
    bounded,
    contentType,
    sizes,
    cached,
    sizeBytes,
    putting,
  } = found;
  const isUnproven = !file && upload?.unproven === 1;
  const uploadId = file ? undefined : upload?.uploadId;
  const requestedAt = file ? undefined : upload?.requestedAt;
  const kind = file ? 'confirmed' : 'requested';
  return {
    kind,
    size,
    visibility,
    owner,
    name,
    bounded,
    isUnproven,
    contentType,
    uploadId,
    requestedAt,
    sizes,
    cached,
    sizeBytes,
    putting,
  };
};

/**
 * requested → confirmed: the object at the path is the file, and its size is charged. Returns the state afterwards:
 * `requested` where its size is not the one asked for, `undefined` where it is deleted, expired or unknown.
 */
export const charge = async (
  ref: FileRef,
  { size, etag, contentType }: StoredObject,
  { visibility, owner, name, bounded }: Pick<UploadState, 'visibility' | 'owner' | 'name' | 'bounded'>,
): Promise<UploadState | undefined> => {
  const item: FileItem = {
    ...fileItemKey(ref),
    bytes: size,
    etag,
    contentType,
    confirmedAt: clock.now(),
    owner,
    name,
    bounded,
    visibility: visibility === 'public' ? undefined : visibility,
  };
  const found = await transact<FileItem | UploadItem>([
    { delete: uploadKey(ref), condition: 'bytes = :bytes', values: { bytes: size } },
    { put: item, condition: 'attribute_not_exists(pk)' },
    count(ref, { used: size, files: 1 }),
    ...countUser(ref, item, { reservations: -1 }),
    ...(owner === undefined ? [] : [{ put: userFileKey(ref, owner) }]),
  ]);
  return stateFrom(found ? found.map(({ item: known }) => known) : [undefined, item]);
};

/**
 * Writes down that a requested upload comes in parts, unless that has begun already. Returns the id by which it does;
 * `undefined` where it is no longer requested. What is left of it then is given up a day later.
 */
export const keepUploadId = async (ref: FileRef, upload: MultipartUpload): Promise<string | undefined> => {
  const found = await transact<UploadItem>([
    {
      update: uploadKey(ref),
      change: 'SET uploadId = :uploadId',
      condition: `${given} AND attribute_not_exists(uploadId)`,
      values: { uploadId: upload.uploadId },
    },
    putDueEntry(ref, 'begun', { upload }),
  ]);
  return found ? found[0]?.item?.uploadId : upload.uploadId;
};

/** requested → expired: gives back what was reserved. False where it is no longer requested. */
export const expire = async (
  ref: FileRef,
  upload: Pick<UploadState, 'size' | 'owner' | 'bounded'>,
): Promise<boolean> => {
  const refusal = await transact([
    { delete: uploadKey(ref), condition: given },
    count(ref, { held: -upload.size }),
    ...countUser(ref, upload, { held: -upload.size, files: -1, reservations: -1 }),
  ]);
  return refusal === undefined;
};

type Charged = KeptSizes & Pick<FileItem, 'bytes' | 'owner' | 'bounded'>;

/** Sizes of a picture that come and go while it is deleted have it tried again; more often than this nobody can. */
const mostTries = 10;

/** Deletes a file as it was read, gives back what it was charged, and takes its sizes out of the cache. */
const dischargeAsRead = (ref: FileRef, file: Charged) => {
  const { bytes, owner, sizeBytes = 0 } = file;
  const all = bytes + sizeBytes;
  return transact<FileItem>([
    { delete: fileItemKey(ref), ...asRead(file) },
    count(ref, { held: -all, used: -all, files: -1 }),
    ...countUser(ref, file, { held: -bytes, files: -1 }),
    ...removeVariants(ref, cachedOf(file)),
    putDueEntry(ref, 'deleted', { sizes: namesOf(file) }),
    ...(owner === undefined ? [] : [{ delete: userFileKey(ref, owner) }]),
  ]);
};

/**
 * confirmed → deleted: gives back what the file was charged and its sizes have of the cache, once, and not while one of them is being
 * put, which would outlast it. Returns the names of the sizes; `undefined` where there is no such file (any more).
 */
export const discharge = async (ref: FileRef, file: Charged): Promise<ReadonlySet<string> | undefined> => {
  let known: Charged | 'busy' | undefined = file;
  for (let left = mostTries; left > 0; left--) {
    known = await whenPut<Charged>(ref, known);
    if (!known) return undefined;
    if (known === 'busy') break;
    const found: readonly Found<FileItem>[] | undefined = await dischargeAsRead(ref, known);
    if (!found) return namesOf(known);
    known = found[0]?.item;
    if (!known) return undefined;
  }
  throw new AppError('TOO_MANY_WRITERS', 'Sizes of this file are being created. Try again.', { retryAfter: 1 });
};

/** In which state a path is; `undefined` where it is deleted, expired or was never given out. */
export const stateOf = async (ref: FileRef): Promise<UploadState | undefined> =>
  stateFrom(await getTogether<FileItem | UploadItem>([uploadKey(ref), fileItemKey(ref)]));
