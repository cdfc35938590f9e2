import { randomUUID } from 'node:crypto';
import type { Bucket } from './bucket.ts';
import { invalidStorage } from './storage-endpoint.ts';
import { type Step, storageRefusal } from './storage-refusal.ts';

const content = Buffer.from('A test of the connection. It may be deleted.\n');
const contentType = 'text/plain';

const attempt = async <T>(step: Step, act: () => Promise<T>): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    throw storageRefusal(step, error);
  }
};

/** A real storage returns what it was given, lists what it has, and reports what is gone. */
const noStorage = (what: string): Error =>
  invalidStorage(`endpoint ${what}: it is no S3-compatible storage.`, 'endpoint');

const useAll = async (bucket: Bucket, key: string, copy: string): Promise<void> => {
  await attempt('write', () => bucket.put(key, content, contentType));
  const written = await attempt('read', () => bucket.head(key));
  if (written?.size !== content.length) throw noStorage('does not have what was written to it');
  const { etag } = written;
  const copied = await attempt('copy', () => bucket.copy({ from: key, to: copy, etag, contentType }));
  if (copied !== 'copied') throw noStorage('does not copy what was written to it');
  await attempt('delete', () => bucket.remove([key, copy]));
  if (await attempt('read', () => bucket.head(key))) throw noStorage('still has what was deleted from it');
};

/**
 * Does with a bucket what uploads do: writes a small object, reads, copies and deletes it. What does not work → 400
 * `INVALID_STORAGE` saying what. Nothing of it stays, unless the storage fails in between.
 */
export const tryStorage = async (bucket: Bucket): Promise<void> => {
  const key = `basalt-test/${randomUUID()}`;
  const copy = `${key}-copy`;
  try {
    await useAll(bucket, key, copy);
  } catch (error) {
    await bucket.remove([key, copy]).catch(() => undefined);
    throw error;
  }
};
