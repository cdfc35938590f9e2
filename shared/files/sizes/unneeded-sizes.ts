import { managedBucket } from '../bucket.ts';
import type { DueEntry } from '../due-uploads.ts';
import { managedStorageId } from '../storage-keys.ts';
import type { UploadState } from '../upload-states.ts';
import { dropSizes, sizeKey, sizeKeys } from './keep-size.ts';

/**
 * For the sweep: objects of sizes of a confirmed file that nobody needs. Where one that was charged is missing, as who
 * made it died, none of the file's is kept any longer: whoever asks for them has them made again.
 */
export const unneededSizes = async (entry: DueEntry, { visibility, sizes, sizeBytes }: UploadState) => {
  const { filePath, storageId } = entry;
  const named = [...(entry.sizes ?? [])];
  if (storageId !== managedStorageId || named.length === 0) return [];
  const charged = named.filter((name) => sizes?.has(name));
  const found = await Promise.all(charged.map((name) => managedBucket.head(sizeKey(filePath, visibility, name))));
  const isMissing = found.includes(null);
  if (isMissing && sizes && (await dropSizes(entry, { sizes, sizeBytes }))) {
    return sizeKeys(filePath, [...sizes, ...named]);
  }
  const needed = new Set(charged.map((name) => sizeKey(filePath, visibility, name)));
  return sizeKeys(filePath, named).filter((key) => !needed.has(key));
};
