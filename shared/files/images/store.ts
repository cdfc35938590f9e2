import { clock } from '../../core/clock.ts';
import { transact, write } from '../../persistence/table.ts';
import { managedBucket } from '../bucket.ts';
import { type DueEntry, putDueEntry } from '../due-uploads.ts';
import {
  type FileItem,
  type FileRef,
  type FileVariants,
  fileItemKey,
  fileKey,
  fileKeys,
  type Visibility,
} from '../file-items.ts';
import { managedStorageId } from '../storage-keys.ts';
import { count, type UploadState } from '../upload-states.ts';
import {
  type BudgetItem,
  cachedEntry,
  cachedOf,
  cacheVariant,
  isBeingWritten,
  uncacheVariants,
  unchangedVariants,
  type Variant,
  variantNames,
  waitForWrites,
  writeMs,
  writingEntry,
} from './variant-items.ts';

/** Variants per file: anyone with its address could request thousands. */
const maxVariants = 50;

export interface NewVariant {
  readonly name: string;
  readonly bytes: number;
  readonly visibility: Visibility;
}

/** Variants are stored below their file. */
export const variantObjectKey = (filePath: string, visibility: Visibility, name: string): string =>
  `${fileKey(filePath, visibility)}/${name}`;

export const variantObjectKeys = (filePath: string, names: Iterable<string> = []): string[] => {
  const all = [...names];
  return fileKeys(filePath).flatMap((key) => all.map((name) => `${key}/${name}`));
};

/** Returns `missing` bytes if there is no room; `undefined` if the variant is not to be stored. */
export const chargeVariant = async (
  ref: FileRef,
  { name, bytes, visibility }: NewVariant,
  budget: number,
): Promise<Variant | { readonly missing: number } | undefined> => {
  if (bytes > budget) return undefined;
  const names = new Set([name]);
  const variant = { name, time: clock.now() + writeMs, bytes };
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
        putting: new Set([writingEntry(name, variant.time)]),
        most: maxVariants,
        now: clock.now(),
        visibility: visibility === 'public' ? undefined : visibility,
      },
    },
    ...cacheVariant(ref, variant, budget),
    // The cleanup handles a crash before the bytes are stored.
    putDueEntry(ref, 'sized', { sizes: names }),
  ]);
  if (!refusal) return variant;
  const [file, counter] = refusal;
  if (file?.refused || !counter?.refused) return undefined;
  return { missing: (counter.item?.held ?? 0) + bytes - budget };
};

/** Marks a variant as stored; false if it was dropped meanwhile because it took too long. */
export const markVariantStored = async (ref: FileRef, name: string, until: number): Promise<boolean> => {
  const { done } = await write({
    update: fileItemKey(ref),
    change: 'DELETE putting :putting',
    condition: 'contains(sizes, :name)',
    values: { putting: new Set([writingEntry(name, until)]), name },
  });
  return done;
};

/** Refunds a variant that could not be stored. */
export const refundVariant = async (ref: FileRef, variant: Variant): Promise<void> => {
  const entry = cachedEntry(variant);
  await transact([
    {
      update: fileItemKey(ref),
      change: 'DELETE sizes :names, cached :cached',
      condition: 'contains(cached, :entry)',
      values: { names: new Set([variant.name]), cached: new Set([entry]), entry },
    },
    ...uncacheVariants(ref, [variant]),
  ]);
};

/** Removes all variants from the cache; false if they have changed meanwhile or there are none. */
const dropVariants = async (ref: FileRef, kept: FileVariants): Promise<boolean> => {
  const { sizeBytes = 0 } = kept;
  const names = variantNames(kept);
  if (names.size === 0) return false;
  const refusal = await transact([
    { update: fileItemKey(ref), change: 'REMOVE sizes, cached, sizeBytes, putting', ...unchangedVariants(kept) },
    ...(sizeBytes > 0 ? [count(ref, { held: -sizeBytes, used: -sizeBytes })] : []),
    ...uncacheVariants(ref, cachedOf(kept)),
    putDueEntry(ref, 'dropped', { sizes: names }),
  ]);
  return refusal === undefined;
};

/**
 * Removes the variants of a file that the caller holds. Waits for writes in progress, which would outlast it; then
 * removes the bytes, then the charge. False if another run holds the file or it is deleted.
 */
export const removeVariants = async (ref: FileRef, file: FileVariants): Promise<boolean> => {
  const kept: FileVariants | FileItem | 'busy' | undefined = await waitForWrites(ref, file);
  if (!kept || kept === 'busy') return false;
  const names = variantNames(kept);
  if (names.size === 0) return true;
  await managedBucket.remove(variantObjectKeys(ref.filePath, names));
  return dropVariants(ref, kept);
};

/** Objects to remove; `release` runs afterwards, also if the removal fails. */
export interface UnneededObjects {
  readonly keys: readonly string[];
  readonly release?: () => Promise<void>;
  /** Another run holds the file and may have crashed, so the path is checked again. */
  readonly isHeld?: true | undefined;
}

/** If bytes of a charged variant are missing after a crash, all variants go; they are made again on request. */
export const unneededVariants = async (entry: DueEntry, state: UploadState): Promise<UnneededObjects> => {
  const { filePath, storageId } = entry;
  const { visibility, sizes } = state;
  const named = [...(entry.sizes ?? [])];
  if (storageId !== managedStorageId || named.length === 0) return { keys: [] };
  const charged = named.filter((name) => sizes?.has(name));
  const found = await Promise.all(
    charged.map((name) => managedBucket.head(variantObjectKey(filePath, visibility, name))),
  );
  if (found.includes(null)) {
    if (isBeingWritten(state) || !(await dropVariants(entry, state))) return { keys: [], isHeld: true };
    return { keys: variantObjectKeys(filePath, [...variantNames(state), ...named]) };
  }
  const needed = new Set(charged.map((name) => variantObjectKey(filePath, visibility, name)));
  return { keys: variantObjectKeys(filePath, named).filter((key) => !needed.has(key)) };
};
