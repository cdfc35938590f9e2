import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { onFiles } from '../clients/s3.ts';
import { type Bucket, s3Bucket } from './bucket.ts';

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
