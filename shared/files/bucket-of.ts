import type { Project } from '../projects/project.ts';
import { type Bucket, managedBucket } from './bucket.ts';
import { ownBucket } from './own-bucket.ts';

export const bucketOf = async ({ id, storage }: Project): Promise<Bucket> =>
  storage.kind === 'managed' ? managedBucket : ownBucket(id, storage);
