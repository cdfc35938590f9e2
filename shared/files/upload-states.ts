import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import type { Update } from '../persistence/dynamo.ts';
import type { Key } from '../persistence/item-keys.ts';
import { type Found, getTogether, transact } from '../persistence/table.ts';
import type { StoredObject } from './bucket.ts';
import { putDueEntry } from './due-uploads.ts';
import {
  type FileItem,
  type FileRef,
  type FileVariants,
  fileItemKey,
  listKeys,
  type Named,
  type Ownership,
  quotaKey,
  type UploadItem,
  type UserLimited,
  type UserQuotaItem,
  uploadKey,
  userQuotaKey,
  type Visibility,
} from './file-items.ts';
import { cachedOf, uncacheVariants, unchangedVariants, variantNames, waitForWrites } from './images/variant-items.ts';
import type { MultipartUpload } from './multipart.ts';

/**
 * A path is requested, then confirmed, then deleted; or requested, then expired. Each transition is one transaction
 * that also moves the quota. Paths are never reused.
 */
export interface UploadState extends FileVariants, Named {
  readonly kind: 'requested' | 'confirmed';
  readonly size: number;
  readonly visibility: Visibility;
  readonly owner: string | undefined;
  readonly of: string | undefined;
  readonly bounded: UserLimited['bounded'];
  readonly isUnproven: boolean;
  readonly contentType: string;
  /** Only of a requested upload in parts. */
  readonly uploadId: string | undefined;
  /** When it was requested, in ms since 1970; `undefined` of a confirmed file. */
  readonly requestedAt: number | undefined;
}

const exists = 'attribute_exists(pk)';

const add = (update: Key, values: Readonly<Record<string, number>>): Update => ({
  update,
  change: `ADD ${Object.keys(values)
    .map((name) => `${name} :${name}`)
    .join(', ')}`,
  values,
});

export const count = (ref: FileRef, values: Readonly<Record<string, number>>): Update => add(quotaKey(ref), values);

type Owned = Pick<Ownership, 'owner'> & UserLimited;

/** Uploads with a secret key count for no user. */
const countUser = (ref: FileRef, { owner, bounded }: Owned, values: Readonly<Record<string, number>>): Update[] =>
  bounded && owner !== undefined ? [add(userQuotaKey(ref, owner), values)] : [];

/** `bytes: null` is unlimited. */
export interface UserLimits {
  readonly bytes: number | null;
  readonly files: number;
  readonly reservations: number;
}

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

/** `has`: what the user already has. */
type QuotaFull = { readonly of: 'storage' } | { readonly of: 'user'; readonly has: UserQuotaItem | undefined };

/** `storage` in bytes; `null` is unlimited. */
interface ReserveLimits {
  readonly storage: number | null;
  readonly user: UserLimits;
}

/** → requested. Reserves `size` bytes, unless an earlier run of the same request has. */
export const reserve = async (
  ref: FileRef,
  upload: Ownership & Pick<UploadItem, 'contentType' | 'unproven' | 'bounded' | 'name'> & { readonly size: number },
  { storage: limit, user }: ReserveLimits,
): Promise<QuotaFull | undefined> => {
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
      UserLimited &
      FileVariants &
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
    of,
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
    of,
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

/** requested → confirmed. Still `requested` if the size differs; `undefined` if the path is gone. */
export const confirmCharge = async (
  ref: FileRef,
  { size, etag, contentType }: StoredObject,
  { visibility, owner, of, name, bounded }: Pick<UploadState, 'visibility' | 'owner' | 'of' | 'name' | 'bounded'>,
): Promise<UploadState | undefined> => {
  const item: FileItem = {
    ...fileItemKey(ref),
    bytes: size,
    etag,
    contentType,
    confirmedAt: clock.now(),
    owner,
    of,
    name,
    bounded,
    visibility: visibility === 'public' ? undefined : visibility,
  };
  const found = await transact<FileItem | UploadItem>([
    { delete: uploadKey(ref), condition: 'bytes = :bytes', values: { bytes: size } },
    { put: item, condition: 'attribute_not_exists(pk)' },
    count(ref, { used: size, files: 1 }),
    ...countUser(ref, item, { reservations: -1 }),
    ...listKeys(ref, item).map((put) => ({ put })),
  ]);
  return stateFrom(found ? found.map(({ item: known }) => known) : [undefined, item]);
};

/** Returns the stored id; `undefined` if the path is not requested any more. Leftovers are aborted a day later. */
export const keepUploadId = async (ref: FileRef, upload: MultipartUpload): Promise<string | undefined> => {
  const found = await transact<UploadItem>([
    {
      update: uploadKey(ref),
      change: 'SET uploadId = :uploadId',
      condition: `${exists} AND attribute_not_exists(uploadId)`,
      values: { uploadId: upload.uploadId },
    },
    putDueEntry(ref, 'begun', { upload }),
  ]);
  return found ? found[0]?.item?.uploadId : upload.uploadId;
};

/** requested → expired. Refunds the reservation; false if the path is not requested any more. */
export const expire = async (
  ref: FileRef,
  upload: Pick<UploadState, 'size' | 'owner' | 'bounded'>,
): Promise<boolean> => {
  const refusal = await transact([
    { delete: uploadKey(ref), condition: exists },
    count(ref, { held: -upload.size }),
    ...countUser(ref, upload, { held: -upload.size, files: -1, reservations: -1 }),
  ]);
  return refusal === undefined;
};

type Charged = FileVariants & Pick<FileItem, 'bytes' | 'owner' | 'of' | 'bounded'>;

/** Retries while variants come and go. */
const maxTries = 10;

const refundUnchanged = (ref: FileRef, file: Charged) => {
  const { bytes, sizeBytes = 0 } = file;
  const all = bytes + sizeBytes;
  return transact<FileItem>([
    { delete: fileItemKey(ref), ...unchangedVariants(file) },
    count(ref, { held: -all, used: -all, files: -1 }),
    ...countUser(ref, file, { held: -bytes, files: -1 }),
    ...uncacheVariants(ref, cachedOf(file)),
    putDueEntry(ref, 'deleted', { sizes: variantNames(file) }),
    ...listKeys(ref, file).map((key) => ({ delete: key })),
  ]);
};

/**
 * confirmed → deleted. Refunds the file and its variants once, after writes of variants have ended. Returns the names
 * of the variants; `undefined` if there is no such file. Throws 503 `TOO_MANY_WRITERS`.
 */
export const refundFile = async (ref: FileRef, file: Charged): Promise<ReadonlySet<string> | undefined> => {
  let known: Charged | 'busy' | undefined = file;
  for (let left = maxTries; left > 0; left--) {
    known = await waitForWrites<Charged>(ref, known);
    if (!known) return undefined;
    if (known === 'busy') break;
    const found: readonly Found<FileItem>[] | undefined = await refundUnchanged(ref, known);
    if (!found) return variantNames(known);
    known = found[0]?.item;
    if (!known) return undefined;
  }
  throw new AppError('TOO_MANY_WRITERS', 'Sizes of this file are being created. Retry.', { retryAfter: 1 });
};

/** `undefined` if the path is deleted, expired or was never issued. */
export const stateOf = async (ref: FileRef): Promise<UploadState | undefined> =>
  stateFrom(await getTogether<FileItem | UploadItem>([uploadKey(ref), fileItemKey(ref)]));
