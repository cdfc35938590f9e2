import { GetObjectCommand } from '@aws-sdk/client-s3';
import { ifThere, onFiles } from '../../../shared/persistence/s3.ts';

/** The bytes of an object in the bucket; `undefined` if it does not exist. */
export const loadObject = (key: string): Promise<Uint8Array | undefined> =>
  ifThere(
    onFiles(async (client, Bucket) => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: key }));
      return Body?.transformToByteArray();
    }),
  );
