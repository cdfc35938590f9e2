import type { Bucket, StoredObject } from './bucket.ts';
import { sortParts } from './parts.ts';

/**
 * Makes the parts of an upload the object at `key`, as soon as all are there and if nothing is there yet. Returns what is
 * there, and whether this has put it there; `null` where parts are missing, or were replaced meanwhile.
 */
export const publishParts = async (
  bucket: Required<Bucket>,
  upload: { readonly key: string; readonly uploadId: string },
  size: number,
): Promise<{ readonly stored: StoredObject; readonly copied: boolean } | null> => {
  const stored = await bucket.parts.list(upload);
  const { arrived, missing } = sortParts(size, stored ?? []);
  if (stored && missing.length > 0) return null;
  const copied = stored !== undefined && (await bucket.parts.complete(upload, arrived)) === 'completed';
  // Without an upload another confirmation has put it there; which may be charged by now, or not.
  const there = await bucket.head(upload.key);
  return there && { stored: there, copied };
};
