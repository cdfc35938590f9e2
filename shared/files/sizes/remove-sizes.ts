import { managedBucket } from '../bucket.ts';
import type { FileItem, FileRef, KeptSizes } from '../upload-items.ts';
import { dropSizes, sizeKeys } from './keep-size.ts';
import { namesOf, whenPut } from './kept-sizes.ts';

/**
 * Removes the sizes of a file that the caller has for itself, so that nobody charges one meanwhile: first those that are
 * being put are waited for, as they would outlast it, then the bytes go, and the charge last. False where somebody else
 * has the file by now, or it is gone.
 */
export const removeSizes = async (ref: FileRef, file: KeptSizes): Promise<boolean> => {
  const kept: KeptSizes | FileItem | 'busy' | undefined = await whenPut(ref, file);
  if (!kept || kept === 'busy') return false;
  const names = namesOf(kept);
  if (names.size === 0) return true;
  await managedBucket.remove(sizeKeys(ref.filePath, names));
  return dropSizes(ref, kept);
};
