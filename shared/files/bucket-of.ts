import { fileSettings } from '../core/config.ts';
import type { Project } from '../projects/project.ts';
import { type Bucket, managedBucket } from './bucket.ts';
import { fileKey } from './file-path.ts';
import { openStorageKeys } from './storage-keys.ts';

export const bucketOf = async ({ id, storage }: Project): Promise<Bucket> => {
  if (storage.kind === 'managed') return managedBucket;
  const { externalBucket } = await import('./external-bucket.ts');
  return externalBucket(storage, await openStorageKeys(id, storage));
};

/** Where anybody can read a confirmed file; `null` where the project's own storage has no public host. */
export const publicUrl = ({ storage }: Project, filePath: string): string | null => {
  if (storage.kind === 'managed') return `${fileSettings().FILES_URL.replace(/\/+$/, '')}/${filePath}`;
  return storage.publicHost && `${storage.publicHost.replace(/\/+$/, '')}/${fileKey(filePath)}`;
};
