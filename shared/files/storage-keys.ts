import { hash } from 'node:crypto';
import type { StoragePlace } from '../projects/project.ts';
import { open, seal } from '../projects/sealed.ts';

export type ExternalPlace = Extract<StoragePlace, { readonly kind: 'external' }>;

/** Where in which storage a bucket is. */
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

/** The id of a storage: the same bucket, connected again, still knows its files; another one knows none of them. */
export const externalStorageId = ({ endpoint, bucket }: Pick<ExternalPlace, 'endpoint' | 'bucket'>): string =>
  hash('sha256', JSON.stringify([endpoint, bucket]), 'hex').slice(0, 24);

export const managedStorageId = 'managed';

/** Names the storage that a project's files go to; uploads, files and their quota are kept apart by it. */
export const storageIdOf = (storage: StoragePlace): string =>
  storage.kind === 'external' ? storage.id : managedStorageId;
