import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { onTable } from '../clients/dynamo.ts';
import { plans } from '../projects/plans.ts';
import type { Project } from '../projects/project.ts';
import { storageIdOf } from './storage-keys.ts';
import { numberIn, quotaKey } from './upload-items.ts';

/** How much of its storage a project uses, in bytes. */
export interface StorageUsage {
  /** Confirmed files. */
  readonly used: number;
  /** Confirmed files, and uploads that were requested and have neither been confirmed nor expired. */
  readonly held: number;
  /** `null` for storage of the project's own. */
  readonly limit: number | null;
  /** How many confirmed files there are. */
  readonly files: number;
}

/** Bytes that the files of a project may have together; `null` for storage of its own. */
export const storageLimit = ({ plan, storage }: Project): number | null =>
  storage.kind === 'managed' ? plans[plan].storageBytes : null;

/** The counter of the storage that the project has now. One read. */
export const storageUsage = async (project: Project): Promise<StorageUsage> => {
  const place = { projectId: project.id, storageId: storageIdOf(project.storage) };
  const { Item } = await onTable((client, TableName) =>
    client.send(new GetItemCommand({ TableName, Key: quotaKey(place), ConsistentRead: true })),
  );
  return {
    used: numberIn(Item, 'used'),
    held: numberIn(Item, 'held'),
    limit: storageLimit(project),
    files: numberIn(Item, 'files'),
  };
};
