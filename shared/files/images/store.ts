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
import { asRead, isBeingPut, namesOf, puttingEntry, puttingMs, whenPut } from './entries.ts';

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
 * Charges a size that is about to be put, once, and says until when it may be, in ms since 1970. `undefined` where it
 * is not to be: it is charged already, the storage or the file has no room (`limit` in bytes), or the file was deleted
 * or is, or is becoming, public or private.
 */
export const chargeSize = async (
  ref: FileRef,
  { name, bytes, visibility }: NewSize,
  limit: number,
): Promise<number | undefined> => {
  if (bytes > limit) return undefined;
  const names = new Set([name]);
  const until = clock.now() + puttingMs;
  const isThere = visibility === 'public' ? 'attribute_not_exists(visibility)' : 'visibility = :visibility';
  const refusal = await transact([
    {
      update: fileItemKey(ref),
      change: 'ADD sizes :names, sizeBytes :bytes, putting :putting',
      condition: `attribute_exists(pk) AND ${isThere} AND NOT contains(sizes, :name) AND (attribute_not_exists(sizes) OR size(sizes) < :most) AND (attribute_not_exists(mover) OR movingUntil < :now)`,
      values: {
        names,
        name,
        bytes,
        putting: new Set([puttingEntry(name, until)]),
        most: mostKept,
        now: clock.now(),
        visibility: visibility === 'public' ? undefined : visibility,
      },
    },
    {
      ...count(ref, { held: bytes, used: bytes }),
      condition: 'held <= :room',
      values: { held: bytes, used: bytes, room: limit - bytes },
    },
    // Whoever dies before the bytes are there leaves that to the sweep.
    putDueEntry(ref, 'sized', { sizes: names }),
  ]);
  return refusal ? undefined : until;
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

/** Gives back what a size was charged that could not be put. Its bytes may be there yet, for a moment. */
export const giveBackSize = async (ref: FileRef, { name, bytes }: NewSize): Promise<void> => {
  await transact([
    {
      update: fileItemKey(ref),
      change: 'DELETE sizes :names ADD sizeBytes :bytes',
      condition: 'contains(sizes, :name)',
      values: { names: new Set([name]), name, bytes: -bytes },
    },
    count(ref, { held: -bytes, used: -bytes }),
  ]);
};

/**
 * Gives back what the sizes of a file were charged, which nobody puts. False where there are others by now, or none.
 */
const dropSizes = async (ref: FileRef, kept: KeptSizes): Promise<boolean> => {
  const { sizeBytes = 0 } = kept;
  const names = namesOf(kept);
  if (names.size === 0) return false;
  const refusal = await transact([
    { update: fileItemKey(ref), change: 'REMOVE sizes, sizeBytes, putting', ...asRead(kept) },
    count(ref, { held: -sizeBytes, used: -sizeBytes }),
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
