import { isOverdue, timed } from '../clients/timed.ts';
import { clock } from '../core/clock.ts';
import { changeProject } from '../projects/change-project.ts';
import type { OwnedProject } from '../projects/find-owned-project.ts';
import type { ProjectView } from '../projects/project-view.ts';
import { externalBucket } from './external-bucket.ts';
import {
  type BucketPlace,
  type ExternalPlace,
  externalStorageId,
  type StorageKeys,
  sealStorageKeys,
} from './storage-keys.ts';
import { checkedEndpoint, invalidStorage, tryStorage } from './try-storage.ts';

/** A customer's bucket as entered. `publicHost`: base address under which everyone can read its objects. */
interface StorageConnection extends StorageKeys, BucketPlace {
  readonly publicHost?: string | null | undefined;
}

/** For all of the test together. */
const testLimitMs = 5000;

const test = async (connection: StorageConnection, keys: StorageKeys): Promise<string> => {
  try {
    return await timed(testLimitMs, async () => {
      const endpoint = await checkedEndpoint(connection.endpoint);
      await tryStorage(externalBucket({ ...connection, endpoint }, keys));
      return endpoint;
    });
  } catch (error) {
    if (!isOverdue(error)) throw error;
    throw invalidStorage('endpoint', 'endpoint could not be reached, or took longer than 5 s to answer.', error);
  }
};

/**
 * Has the project's files put into a bucket of the developer's own from now on, after a test write to it; its keys are
 * kept sealed. What does not work within 5 s → 400 `INVALID_STORAGE` (contract 4, "External storage").
 */
export const connectStorage = async (owned: OwnedProject, connection: StorageConnection): Promise<ProjectView> => {
  const { region, bucket, publicHost = null, accessKeyId, secretAccessKey } = connection;
  const keys = { accessKeyId, secretAccessKey };
  const endpoint = await test(connection, keys);
  const place = { kind: 'external', endpoint, region, bucket, publicHost } as const;
  const sealedKeys = await sealStorageKeys(owned.project.id, keys);
  const storage = { ...place, id: externalStorageId(place), sealedKeys } satisfies ExternalPlace;
  return changeProject(owned, { $set: { storage, updatedAt: new Date(clock.now()) } });
};

/** Has the project's files put into our bucket again; also where they already are. Its own bucket is left as it is. */
export const disconnectStorage = (owned: OwnedProject): Promise<ProjectView> =>
  changeProject(owned, { $unset: { storage: '' }, $set: { updatedAt: new Date(clock.now()) } });
