import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { inLanes } from '../work/in-lanes.ts';
import type { Bucket } from './bucket.ts';
import { onExternal } from './external-client.ts';
import { s3Bucket } from './s3-bucket.ts';
import type { ExternalPlace, StorageKeys } from './storage-keys.ts';

/** How many objects are removed at once. */
const lanes = 10;

/** A bucket at any S3-compatible endpoint, whose host is checked, and connected to as it was checked. */
export const externalBucket = (
  place: Pick<ExternalPlace, 'endpoint' | 'region' | 'bucket'>,
  keys: StorageKeys,
): Bucket => {
  const on = onExternal(place, keys);
  const bucket = s3Bucket(on);
  return {
    ...bucket,

    // Not every storage minds the condition that nothing is at the target, so it is also looked at.
    copy: async (copy) => ((await bucket.head(copy.to)) ? 'refused' : bucket.copy(copy)),

    // Not every storage can remove many at once.
    remove: (names) =>
      inLanes(names, lanes, (Key) => on((client, Bucket) => client.send(new DeleteObjectCommand({ Bucket, Key })))),
  };
};
