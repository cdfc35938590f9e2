import { createHash } from 'node:crypto';
import type { StoragePlace } from '../projects/project.ts';
import { open, seal } from '../projects/sealed.ts';

/** A customer's own S3-compatible storage. */
export type ExternalPlace = Extract<StoragePlace, { readonly kind: 'external' }>;

/** The access key of a storage of a project's own. */
export interface StorageKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** What the sealed keys of a project's storage are bound to. */
const boundTo = (projectId: string): string => `${projectId}/storage`;

/** Encrypts access keys for a project's record. */
export const sealStorageKeys = (projectId: string, { accessKeyId, secretAccessKey }: StorageKeys): Promise<string> =>
  seal(JSON.stringify([accessKeyId, secretAccessKey]), boundTo(projectId));

/** Decrypts what `sealStorageKeys` made for the same project. */
export const openStorageKeys = async (projectId: string, { sealedKeys }: ExternalPlace): Promise<StorageKeys> => {
  const [accessKeyId, secretAccessKey] = JSON.parse(await open(sealedKeys, boundTo(projectId))) as [string, string];
  return { accessKeyId, secretAccessKey };
};

/** The id of a storage: the same bucket, connected again, still knows its files; another one knows none of them. */
export const externalStorageId = ({ endpoint, bucket }: Pick<ExternalPlace, 'endpoint' | 'bucket'>): string =>
  createHash('sha256')
    .update(JSON.stringify([endpoint, bucket]))
    .digest('hex')
    .slice(0, 24);

export const managedStorageId = 'managed';

/** Names the storage that a project's files go to; uploads, files and their quota are kept apart by it. */
export const storageIdOf = (storage: StoragePlace): string =>
  storage.kind === 'external' ? storage.id : managedStorageId;
