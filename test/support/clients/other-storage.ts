import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { permitAddresses } from '../../../infra/local/permit-addresses.ts';
import { externalStorageId, type StorageKeys, sealStorageKeys } from '../../../shared/files/storage-keys.ts';
import type { Project, StoragePlace } from '../../../shared/projects/project.ts';
import { storageProject } from '../fixtures/storage-project.ts';
import { startExternalS3 } from './external-s3.ts';

/** A developer's own S3, with other keys, region and bucket. */
export interface OtherStorage {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Base address of the bucket. */
  readonly publicHost: string;
  readonly keys: StorageKeys;
  /** A project that stores its files there. */
  readonly project: (publicHost?: string | null) => Promise<Project>;
  stop(): Promise<void>;
}

/** The storage settings of a project. */
export const placeFor = async (
  projectId: string,
  storage: Pick<OtherStorage, 'endpoint' | 'region' | 'bucket' | 'keys'>,
  publicHost: string | null,
): Promise<Extract<StoragePlace, { kind: 'external' }>> => {
  const { endpoint, region, bucket, keys } = storage;
  const sealedKeys = await sealStorageKeys(projectId, keys);
  return { kind: 'external', id: externalStorageId(storage), endpoint, region, bucket, publicHost, sealedKeys };
};

/** Starts one and allows this process to connect to it. */
export const startOtherStorage = async (): Promise<OtherStorage> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'basalt-storage-'));
  const place = {
    region: 'us-east-2',
    bucket: 'other-bucket',
    keys: { accessKeyId: 'other', secretAccessKey: 'other-secret' },
  };
  const { endpoint, publicHost: ownHost, address, stop } = await startExternalS3(directory, place);
  permitAddresses(address);
  const storage = { endpoint, ...place };
  return {
    ...storage,
    publicHost: ownHost,
    project: async (publicHost = ownHost) => {
      const project = storageProject();
      return { ...project, storage: await placeFor(project.id, storage, publicHost) };
    },
    stop: async () => {
      await stop();
      await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
};
