import type { Project } from '../projects/project.ts';
import { type Bucket, managedBucket } from './bucket.ts';
import { type ExternalPlace, openStorageKeys } from './storage-keys.ts';

/** Loaded only for projects with their own bucket. */
export const customerBucket = async (projectId: string, storage: ExternalPlace): Promise<Required<Bucket>> => {
  const { externalBucket } = await import('./external-bucket.ts');
  return externalBucket(storage, await openStorageKeys(projectId, storage));
};

export const bucketOf = async ({ id, storage }: Project): Promise<Bucket> =>
  storage.kind === 'managed' ? managedBucket : customerBucket(id, storage);
