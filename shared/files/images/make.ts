import { clock } from '../../core/clock.ts';
import { failureResponse } from '../../core/error-body.ts';
import { AppError } from '../../core/errors.ts';
import { describeError, log } from '../../core/log.ts';
import { projectScope, sortPrefix } from '../../persistence/item-keys.ts';
import { get, list, transact, write } from '../../persistence/table.ts';
import * as kinds from '../../persistence/table-keys.ts';
import { findProjectById } from '../../projects/find-project.ts';
import { plans } from '../../projects/plans.ts';
import { managedBucket } from '../bucket.ts';
import { putDueEntry } from '../due-uploads.ts';
import {
  type FileItem,
  type FileRef,
  type FileVariants,
  fileItemKey,
  fileKey,
  isPathOf,
  type Visibility,
} from '../file-items.ts';
import { holdFile, releaseFile } from '../move-file.ts';
import { managedStorageId } from '../storage-keys.ts';
import { requireNoFailure, resizeImage, storeFailure } from './draw.ts';
import {
  chargeVariant,
  markVariantStored,
  type NewVariant,
  refundVariant,
  variantObjectKey,
  variantObjectKeys,
} from './store.ts';
import { type ImageSize, parseVariantName, visibilityHeader } from './variant.ts';
import { cachedEntry, isBeingWritten, uncacheVariants, type Variant } from './variant-items.ts';

type Drawn = Awaited<ReturnType<typeof resizeImage>>;

export const variantNotFound = (): AppError =>
  new AppError('FILE_NOT_FOUND', 'File not found. It may have been deleted.');

const address = /^(?<folder>\/private)?\/(?<filePath>(?<projectId>[0-9a-f]{24})\/[^/]+)\/(?<name>[a-z0-9_]+)$/;

/** Parses an address of the files' origin. Throws 404 `FILE_NOT_FOUND` if it is none, or not of these readers. */
const readAddress = (path: string, readers: string | undefined) => {
  const { folder, filePath = '', projectId = '', name = '' } = address.exec(path)?.groups ?? {};
  const size = parseVariantName(name);
  if (!size || !isPathOf(projectId, filePath)) throw variantNotFound();
  const visibility: Visibility = folder === undefined ? 'public' : 'private';
  if (readers !== visibility) throw variantNotFound();
  return { ref: { projectId, storageId: managedStorageId, filePath } satisfies FileRef, visibility, name, size };
};

/** A put is cancelled early enough that nothing is in progress when its time ends. */
const maxPutMs = 4500;

const spareMs = 3000;

/** Stores a charged variant; if that fails it is neither stored nor charged. */
const put = async (ref: FileRef, visibility: Visibility, variant: Variant, { bytes, contentType }: Drawn) => {
  const key = variantObjectKey(ref.filePath, visibility, variant.name);
  const leftMs = Math.max(0, Math.min(maxPutMs, variant.time - spareMs - clock.now()));
  try {
    await managedBucket.put(key, bytes, contentType, AbortSignal.timeout(leftMs));
  } catch (error) {
    log.warn({ message: 'A size could not be put', project: ref.projectId, error: describeError(error) });
    // If this fails too, the cleanup finds the object.
    await managedBucket.remove([key]);
    await refundVariant(ref, variant);
    return false;
  }
  return markVariantStored(ref, variant.name, variant.time);
};

/** Stores a variant beside its file; false if there is no room, it exists, or that fails. */
const keep = async (ref: FileRef, visibility: Visibility, name: string, made: Drawn): Promise<boolean> => {
  const project = await findProjectById(ref.projectId);
  if (!project) throw variantNotFound();
  const size = { name, visibility, bytes: made.bytes.length };
  try {
    const charged = await chargeWithRoom(ref, size, plans[project.plan].variantBytes);
    return charged !== undefined && (await put(ref, visibility, charged, made));
  } catch (error) {
    log.warn({ message: 'A size could not be kept', project: ref.projectId, error: describeError(error) });
    return false;
  }
};

const drawOf = async (ref: FileRef, source: Uint8Array, name: string, size: ImageSize): Promise<Drawn> => {
  try {
    return await resizeImage(source, size);
  } catch (error) {
    if (error instanceof AppError) await storeFailure(ref, name, error);
    throw error;
  }
};

/** `readers` is `public` or `private`. Throws 404 `FILE_NOT_FOUND` and the errors of `resizeImage`. */
export const makeVariant = async (path: string, readers: string | undefined) => {
  const { ref, visibility, name, size } = readAddress(path, readers);
  const item = await get<FileItem>(fileItemKey(ref));
  const isHere = (item?.visibility ?? 'public') === visibility;
  // Links signed before a file became public still open its private place.
  if (!item || (!isHere && visibility === 'public')) throw variantNotFound();
  requireNoFailure(item, name);
  const source = await managedBucket.read(fileKey(ref.filePath, visibility), item.etag, item.bytes);
  if (!source) throw variantNotFound();
  const made = await drawOf(ref, source, name, size);
  return { ...made, isKept: isHere && !item.sizes?.has(name) && (await keep(ref, visibility, name, made)) };
};

/** Function URL payload 2.0. */
interface VariantRequest {
  readonly rawPath: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requestContext: { readonly requestId: string };
}

export const respondWithVariant = async ({ rawPath, headers, requestContext: { requestId } }: VariantRequest) => {
  try {
    const { bytes, contentType } = await makeVariant(rawPath, headers[visibilityHeader]);
    return {
      statusCode: 200,
      headers: { 'content-type': contentType },
      body: Buffer.from(bytes).toString('base64'),
      isBase64Encoded: true,
    };
  } catch (error) {
    return failureResponse(error, requestId);
  }
};

/** Per request: each eviction takes four commands. */
const maxEvictions = 20;

const rounds = 3;

/** Removes the bytes, then the entry, of a variant whose file the caller holds. */
const drop = async (ref: FileRef, variant: Variant, mover: string): Promise<boolean> => {
  const names = new Set([variant.name]);
  const entry = cachedEntry(variant);
  // Scheduled first, so that the cleanup handles a crash.
  await write(putDueEntry(ref, 'sized', { sizes: names }));
  await managedBucket.remove(variantObjectKeys(ref.filePath, names));
  const refusal = await transact([
    {
      update: fileItemKey(ref),
      change: 'DELETE sizes :names, cached :cached REMOVE mover, movingUntil',
      condition: 'mover = :mover AND contains(cached, :entry)',
      values: { names, cached: new Set([entry]), mover, entry },
    },
    ...uncacheVariants(ref, [variant]),
  ]);
  return refusal === undefined;
};

const has = ({ cached = new Set() }: FileVariants, variant: Variant): boolean => cached.has(cachedEntry(variant));

/** False if another run holds the file or writes a variant of it. */
const evict = async ({ filePath, ...variant }: Variant & { readonly filePath: string }, projectId: string) => {
  const ref = { projectId, storageId: managedStorageId, filePath };
  const { done, mover, kept } = await holdFile(ref);
  if (!done) return false;
  let isDropped = false;
  try {
    isDropped = !isBeingWritten(kept) && has(kept, variant) && (await drop(ref, variant, mover));
  } finally {
    if (!isDropped) await releaseFile(ref, mover);
  }
  return isDropped;
};

type VariantItem = Variant & { readonly filePath: string };

/** Evicts the oldest variants until `bytes` are free; false if none could be evicted. */
const evictOldest = async (projectId: string, bytes: number): Promise<boolean> => {
  const oldest = await list<VariantItem>({
    partition: projectScope(projectId),
    only: { prefix: sortPrefix(kinds.variant) },
    most: maxEvictions,
  });
  let freed = 0;
  for (const { filePath, name, time, bytes: size } of oldest) {
    if (freed >= bytes) break;
    if (await evict({ filePath, name, time, bytes: size }, projectId)) freed += size;
  }
  return freed > 0;
};

/** Evicts the oldest if needed; `undefined` if it is not to be stored, or after 60 evictions. */
export const chargeWithRoom = async (ref: FileRef, size: NewVariant, budget: number): Promise<Variant | undefined> => {
  for (let left = rounds; ; left--) {
    const charged = await chargeVariant(ref, size, budget);
    if (!charged || !('missing' in charged)) return charged;
    if (left === 0 || !(await evictOldest(ref.projectId, charged.missing))) return undefined;
  }
};
