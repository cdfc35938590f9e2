import { clock } from '../../core/clock.ts';
import { AppError } from '../../core/errors.ts';
import { failureResponse } from '../../core/failure-response.ts';
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
  fileItemKey,
  fileKey,
  isPathOf,
  type KeptSizes,
  type Visibility,
} from '../file-items.ts';
import { claim, release } from '../move-file.ts';
import { managedStorageId } from '../storage-keys.ts';
import { drawSize, rememberUnmade, requireMakeable } from './draw.ts';
import { chargeSize, giveBackSize, keepSize, type NewSize, sizeKey, sizeKeys } from './store.ts';
import { parseSize, type Size, visibilityHeader } from './variant.ts';
import { cachedEntry, isBeingPut, removeVariants, type Variant } from './variant-items.ts';

type Drawn = Awaited<ReturnType<typeof drawSize>>;

export const noSuchFile = (): AppError => new AppError('FILE_NOT_FOUND', 'File not found. It may have been deleted.');

const address = /^(?<folder>\/private)?\/(?<filePath>(?<projectId>[0-9a-f]{24})\/[^/]+)\/(?<name>[a-z0-9_]+)$/;

/** What an address of the origin names; what is none, or not of its readers → 404 `FILE_NOT_FOUND`. */
const readAddress = (path: string, readers: string | undefined) => {
  const { folder, filePath = '', projectId = '', name = '' } = address.exec(path)?.groups ?? {};
  const size = parseSize(name);
  if (!size || !isPathOf(projectId, filePath)) throw noSuchFile();
  const visibility: Visibility = folder === undefined ? 'public' : 'private';
  if (readers !== visibility) throw noSuchFile();
  return { ref: { projectId, storageId: managedStorageId, filePath } satisfies FileRef, visibility, name, size };
};

/** A put that takes longer is given up, so long before its time that nothing of it is under way then. */
const mostPutMs = 4500;

const spareMs = 3000;

/** Puts a size that was charged; what fails is not there and not charged. */
const put = async (ref: FileRef, visibility: Visibility, variant: Variant, { bytes, contentType }: Drawn) => {
  const key = sizeKey(ref.filePath, visibility, variant.name);
  const leftMs = Math.max(0, Math.min(mostPutMs, variant.time - spareMs - clock.now()));
  try {
    await managedBucket.put(key, bytes, contentType, AbortSignal.timeout(leftMs));
  } catch (error) {
    log.warn({ message: 'A size could not be put', project: ref.projectId, error: describeError(error) });
    // Where this fails too the sweep finds out whether it is there.
    await managedBucket.remove([key]);
    await giveBackSize(ref, variant);
    return false;
  }
  return keepSize(ref, variant.name, variant.time);
};

/**
 * Keeps a size beside its file; false where there is no room for it, it is there, or that cannot be done.
 */
const keep = async (ref: FileRef, visibility: Visibility, name: string, made: Drawn): Promise<boolean> => {
  const project = await findProjectById(ref.projectId);
  if (!project) throw noSuchFile();
  const size = { name, visibility, bytes: made.bytes.length };
  try {
    const charged = await chargeWithRoom(ref, size, plans[project.plan].variantBytes);
    return charged !== undefined && (await put(ref, visibility, charged, made));
  } catch (error) {
    log.warn({ message: 'A size could not be kept', project: ref.projectId, error: describeError(error) });
    return false;
  }
};

/** Makes a size; one that fails is remembered before it is refused. */
const drawOf = async (ref: FileRef, source: Uint8Array, name: string, size: Size): Promise<Drawn> => {
  try {
    return await drawSize(source, size);
  } catch (error) {
    if (error instanceof AppError) await rememberUnmade(ref, name, error);
    throw error;
  }
};

/**
 * The size of a hosted picture that an address of the files' origin names, `[/private]/<path>/<name>`, which is made
 * and kept, for readers of `public` or of `private` files, who were looked at before. No such file there → 404
 * `FILE_NOT_FOUND`; refusals as `drawSize`.
 */
export const makeSize = async (path: string, readers: string | undefined) => {
  const { ref, visibility, name, size } = readAddress(path, readers);
  const item = await get<FileItem>(fileItemKey(ref));
  const isHere = (item?.visibility ?? 'public') === visibility;
  // Where a file is public, links that were signed before open what is still at its private place.
  if (!item || (!isHere && visibility === 'public')) throw noSuchFile();
  requireMakeable(item, name);
  const source = await managedBucket.read(fileKey(ref.filePath, visibility), item.etag, item.bytes);
  if (!source) throw noSuchFile();
  const made = await drawOf(ref, source, name, size);
  return { ...made, isKept: isHere && !item.sizes?.has(name) && (await keep(ref, visibility, name, made)) };
};

/** What a function of its own address is asked: payload 2.0. */
interface SizeRequest {
  readonly rawPath: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly requestContext: { readonly requestId: string };
}

/** The bytes of a size, or a failure. */
export const answerSize = async ({ rawPath, headers, requestContext: { requestId } }: SizeRequest) => {
  try {
    const { bytes, contentType } = await makeSize(rawPath, headers[visibilityHeader]);
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

/** The most that one request evicts: each takes four commands. */
const mostEvicted = 20;

const rounds = 3;

/** Takes a size that the caller's file has out of the cache, after its bytes. */
const drop = async (ref: FileRef, variant: Variant, mover: string): Promise<boolean> => {
  const names = new Set([variant.name]);
  const entry = cachedEntry(variant);
  // Before the bytes go, so that the sweep looks after whoever dies here.
  await write(putDueEntry(ref, 'sized', { sizes: names }));
  await managedBucket.remove(sizeKeys(ref.filePath, names));
  const refusal = await transact([
    {
      update: fileItemKey(ref),
      change: 'DELETE sizes :names, cached :cached REMOVE mover, movingUntil',
      condition: 'mover = :mover AND contains(cached, :entry)',
      values: { names, cached: new Set([entry]), mover, entry },
    },
    ...removeVariants(ref, [variant]),
  ]);
  return refusal === undefined;
};

const has = ({ cached = new Set() }: KeptSizes, variant: Variant): boolean => cached.has(cachedEntry(variant));

/** False if somebody else has the file, or a size of it is being put. */
const evict = async ({ filePath, ...variant }: Variant & { readonly filePath: string }, projectId: string) => {
  const ref = { projectId, storageId: managedStorageId, filePath };
  const { done, mover, kept } = await claim(ref);
  if (!done) return false;
  let isDropped = false;
  try {
    isDropped = !isBeingPut(kept) && has(kept, variant) && (await drop(ref, variant, mover));
  } finally {
    if (!isDropped) await release(ref, mover);
  }
  return isDropped;
};

type VariantItem = Variant & { readonly filePath: string };

/** Evicts the oldest sizes of a project until so many bytes are free; false if none could be evicted. */
const evictOldest = async (projectId: string, bytes: number): Promise<boolean> => {
  const oldest = await list<VariantItem>({
    partition: projectScope(projectId),
    only: { prefix: sortPrefix(kinds.variant) },
    most: mostEvicted,
  });
  let freed = 0;
  for (const { filePath, name, time, bytes: size } of oldest) {
    if (freed >= bytes) break;
    if (await evict({ filePath, name, time, bytes: size }, projectId)) freed += size;
  }
  return freed > 0;
};

/**
 * Charges a size to the budget of its project, in which the oldest make room; `undefined` if it is not to be kept, or
 * 60 evictions were too few.
 */
export const chargeWithRoom = async (ref: FileRef, size: NewSize, budget: number): Promise<Variant | undefined> => {
  for (let left = rounds; ; left--) {
    const charged = await chargeSize(ref, size, budget);
    if (!charged || !('missing' in charged)) return charged;
    if (left === 0 || !(await evictOldest(ref.projectId, charged.missing))) return undefined;
  }
};
