import { clock } from '../../core/clock.ts';
import { transact, write } from '../../persistence/table.ts';
import { managedBucket } from '../bucket.ts';
import { type DueEntry, putDueEntry } from '../due-uploads.ts';
import {
  type FileItem,
  type FileRef,
  fileItemKey,
  fileKey,
  fileKeys,
  type KeptSizes,
  type Visibility,
} from '../file-items.ts';
import { managedStorageId } from '../storage-keys.ts';
import { count, type UploadState } from '../upload-states.ts';
import {
  addVariant,
  asRead,
  type BudgetItem,
  cachedEntry,
  cachedOf,
  isBeingPut,
  namesOf,
  puttingEntry,
  puttingMs,
  removeVariants,
  type Variant,
  whenPut,
} from './variant-items.ts';

/** The most sizes of one file that are kept: whoever has its address could make thousands. */
const mostKept = 50;

export interface NewSize {
  readonly name: string;
  readonly bytes: number;
  readonly visibility: Visibility;
}

/** Where a size is kept: below its file. */
export const sizeKey = (filePath: string, visibility: Visibility, name: string): string =>
  `${fileKey(filePath, visibility)}/${name}`;

/** Everywhere that some sizes of a file may lie. */
export const sizeKeys = (filePath: string, names: Iterable<string> = []): string[] => {
  const all = [...names];
  return fileKeys(filePath).flatMap((key) => all.map((name) => `${key}/${name}`));
};

/**
 * Puts a size that is about to be stored into the cache, once; it may be put until `time`, in ms since 1970. `full` with
 * the bytes that are missing if the `budget` of the project has no room for it. `undefined` if it is not to be kept: it
 * is already, the file has as many as it may, or was deleted or is, or is becoming, public or private.
 */
export const chargeSize = async (
  ref: FileRef,
  { name, bytes, visibility }: NewSize,
  budget: number,
): Promise<Variant | { readonly missing: number } | undefined> => {
  if (bytes > budget) return undefined;
  const names = new Set([name]);
  const variant = { name, time: clock.now() + puttingMs, bytes };
  const isThere = visibility === 'public' ? 'attribute_not_exists(visibility)' : 'visibility = :visibility';
  const refusal = await transact<BudgetItem>([
    {
      update: fileItemKey(ref),
      change: 'ADD sizes :names, cached :cached, putting :putting',
      condition: `attribute_exists(pk) AND ${isThere} AND NOT contains(sizes, :name) AND (attribute_not_exists(sizes) OR size(sizes) < :most) AND (attribute_not_exists(mover) OR movingUntil < :now)`,
      values: {
        names,
        name,
        cached: new Set([cachedEntry(variant)]),
        putting: new Set([puttingEntry(name, variant.time)]),
        most: mostKept,
        now: clock.now(),
        visibility: visibility === 'public' ? undefined : visibility,
      },
    },
    ...addVariant(ref, variant, budget),
    // Whoever dies before the bytes are there leaves that to the sweep.
    putDueEntry(ref, 'sized', { sizes: names }),
  ]);
  if (!refusal) return variant;
  const [file, counter] = refusal;
  if (file?.refused || !counter?.refused) return undefined;
  return { missing: (counter.item?.held ?? 0) + bytes - budget };
};

/** Says that a size that was charged is there; false where it was dropped since, as it took too long. */
export const keepSize = async (ref: FileRef, name: string, until: number): Promise<boolean> => {
  const { done } = await write({
    update: fileItemKey(ref),
    change: 'DELETE putting :putting',
    condition: 'contains(sizes, :name)',
    values: { putting: new Set([puttingEntry(name, until)]), name },
  });
  return done;
};

/** Takes a size out of the cache that could not be put. Its bytes may be there yet, for a moment. */
export const giveBackSize = async (ref: FileRef, variant: Variant): Promise<void> => {
  const entry = cachedEntry(variant);
  await transact([
    {
      update: fileItemKey(ref),
      change: 'DELETE sizes :names, cached :cached',
      condition: 'contains(cached, :entry)',
      values: { names: new Set([variant.name]), cached: new Set([entry]), entry },
    },
    ...removeVariants(ref, [variant]),
  ]);
};

/**
 * Takes the sizes of a file out of the cache, which nobody puts. False where there are others by now, or none.
 */
const dropSizes = async (ref: FileRef, kept: KeptSizes): Promise<boolean> => {
  const { sizeBytes = 0 } = kept;
  const names = namesOf(kept);
  if (names.size === 0) return false;
  const refusal = await transact([
    { update: fileItemKey(ref), change: 'REMOVE sizes, cached, sizeBytes, putting', ...asRead(kept) },
    ...(sizeBytes > 0 ? [count(ref, { held: -sizeBytes, used: -sizeBytes })] : []),
    ...removeVariants(ref, cachedOf(kept)),
    putDueEntry(ref, 'dropped', { sizes: names }),
  ]);
  return refusal === undefined;
};

/**
 * Removes the sizes of a file that the caller has for itself, so that nobody charges one meanwhile: first those that
 * are being put are waited for, as they would outlast it, then the bytes go, and the charge last. False where somebody
 * else has the file by now, or it is gone.
 */
export const removeSizes = async (ref: FileRef, file: KeptSizes): Promise<boolean> => {
  const kept: KeptSizes | FileItem | 'busy' | undefined = await whenPut(ref, file);
  if (!kept || kept === 'busy') return false;
  const names = namesOf(kept);
  if (names.size === 0) return true;
  await managedBucket.remove(sizeKeys(ref.filePath, names));
  return dropSizes(ref, kept);
};

/** Objects that nobody needs (any more), and what is done once they are removed, or could not be. */
export interface Unneeded {
  readonly keys: readonly string[];
  readonly release?: () => Promise<void>;
  /** Somebody else has the file, or is at its sizes, and may have died, so that the path is looked at again. */
  readonly isHeld?: true | undefined;
}

/**
 * For the sweep: objects of sizes of a confirmed file that nobody needs. Where one that was charged is missing, as who
 * made it died, none of the file's is kept any longer: whoever asks for them has them made again.
 */
export const unneededSizes = async (entry: DueEntry, state: UploadState): Promise<Unneeded> => {
  const { filePath, storageId } = entry;
  const { visibility, sizes } = state;
  const named = [...(entry.sizes ?? [])];
  if (storageId !== managedStorageId || named.length === 0) return { keys: [] };
  const charged = named.filter((name) => sizes?.has(name));
  const found = await Promise.all(charged.map((name) => managedBucket.head(sizeKey(filePath, visibility, name))));
  if (found.includes(null)) {
    if (isBeingPut(state) || !(await dropSizes(entry, state))) return { keys: [], isHeld: true };
    return { keys: sizeKeys(filePath, [...namesOf(state), ...named]) };
  }
  const needed = new Set(charged.map((name) => sizeKey(filePath, visibility, name)));
  return { keys: sizeKeys(filePath, named).filter((key) => !needed.has(key)) };
};
