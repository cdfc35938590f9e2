import { managedBucket } from '../bucket.ts';
import type { DueEntry } from '../due-uploads.ts';
import { managedStorageId } from '../storage-keys.ts';
import type { UploadState } from '../upload-states.ts';
import { dropSizes, sizeKey, sizeKeys } from './keep-size.ts';
import { isBeingPut, namesOf } from './kept-sizes.ts';

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
