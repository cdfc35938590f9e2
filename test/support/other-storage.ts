import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startFiles } from '../../infra/local/files/start-files.ts';
import type { Project, StoragePlace } from '../../shared/projects/project.ts';
import { externalStorageId, type StorageKeys, sealStorageKeys } from '../../shared/storage/storage-keys.ts';
import { permitAddresses } from './permitted-addresses.ts';
import { storageProject } from './storage-project.ts';

/** An S3 of a developer's own: other keys, another region and bucket than ours. */
export interface OtherStorage {
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Base address of all of the bucket. */
  readonly publicHost: string;
  readonly keys: StorageKeys;
  /** A project that keeps its files there. */
  readonly project: (publicHost?: string | null) => Promise<Project>;
  stop(): Promise<void>;
}

/** The place of a project's files, as it is connected. */
export const placeFor = async (
  projectId: string,
  storage: Pick<OtherStorage, 'endpoint' | 'region' | 'bucket' | 'keys'>,
  publicHost: string | null,
): Promise<Extract<StoragePlace, { kind: 'external' }>> => {
  const { endpoint, region, bucket, keys } = storage;
  const sealedKeys = await sealStorageKeys(projectId, keys);
  return { kind: 'external', id: externalStorageId(storage), endpoint, region, bucket, publicHost, sealedKeys };
};

/** Starts one, and permits this process to connect to it although it is on loopback. */
export const startOtherStorage = async (): Promise<OtherStorage> => {
  const directory = await mkdtemp(path.join(tmpdir(), 'basalt-storage-'));
  const region = 'us-east-2';
  const bucket = 'other-bucket';
  const keys = { accessKeyId: 'other', secretAccessKey: 'other-secret' };
  const options = { directory, region, bucket, keys, port: 0, publicFolder: '' };
  const quiet = { report: () => undefined, onExit: () => undefined };
  const { s3Url, filesUrl, stop } = await startFiles({ ...options, ...quiet });
  permitAddresses(new URL(s3Url).host);
  const storage = { endpoint: s3Url, region, bucket, keys };
  return {
    ...storage,
    publicHost: filesUrl,
    project: async (publicHost = filesUrl) => {
      const project = storageProject();
      return { ...project, storage: await placeFor(project.id, storage, publicHost) };
    },
    stop: async () => {
      await stop();
      await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
};
