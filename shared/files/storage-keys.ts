import { hash } from 'node:crypto';
import type { StoragePlace } from '../projects/project.ts';
import { open, seal } from '../projects/sealed.ts';

export type ExternalPlace = Extract<StoragePlace, { readonly kind: 'external' }>;

export type BucketPlace = Pick<ExternalPlace, 'endpoint' | 'region' | 'bucket'>;

export interface StorageKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

const boundTo = (projectId: string): string => `${projectId}/storage`;

export const sealStorageKeys = (projectId: string, { accessKeyId, secretAccessKey }: StorageKeys): Promise<string> =>
  seal(JSON.stringify([accessKeyId, secretAccessKey]), boundTo(projectId));

export const openStorageKeys = async (projectId: string, { sealedKeys }: ExternalPlace): Promise<StorageKeys> => {
  const [accessKeyId, secretAccessKey] = JSON.parse(await open(sealedKeys, boundTo(projectId))) as [string, string];
  return { accessKeyId, secretAccessKey };
};

/** The same bucket keeps its id when it is connected again, and so its files. */
export const externalStorageId = ({ endpoint, bucket }: Pick<ExternalPlace, 'endpoint' | 'bucket'>): string =>
  hash('sha256', JSON.stringify([endpoint, bucket]), 'hex').slice(0, 24);

export const managedStorageId = 'managed';

/** Uploads, files and quota are kept apart by storage. */
export const storageIdOf = (storage: StoragePlace): string =>
  storage.kind === 'external' ? storage.id : managedStorageId;
