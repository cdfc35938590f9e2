import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { onFiles } from '../clients/s3.ts';
import { fileSettings } from '../core/config.ts';
import type { Project } from '../projects/project.ts';
import { type Bucket, s3Bucket } from './bucket.ts';
import { fileKey } from './file-path.ts';
import { openStorageKeys } from './storage-keys.ts';

export const managedBucket: Bucket = {
  ...s3Bucket(onFiles),

  remove: (keys) =>
    onFiles(async (client, Bucket) => {
      if (keys.length === 0) return;
      const { Errors = [] } = await client.send(
        new DeleteObjectsCommand({ Bucket, Delete: { Objects: keys.map((Key) => ({ Key })), Quiet: true } }),
      );
      if (Errors.length > 0) throw new Error(`${Errors.length} objects could not be removed: ${Errors[0]?.Code}`);
    }),
};

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
