import { plans } from '../projects/plans.ts';
import type { Project } from '../projects/project.ts';
import { get } from '../table/item.ts';
import { storageIdOf } from './storage-keys.ts';
import { type QuotaItem, quotaKey } from './upload-items.ts';

/** How much of its storage a project uses, in bytes. */
export interface StorageUsage {
  /** Confirmed files. */
  readonly used: number;
  /** Confirmed files, and uploads that were requested and have neither been confirmed nor expired. */
  readonly held: number;
  /** `null` for storage of the project's own. */
  readonly limit: number | null;
  readonly files: number;
}

/** Bytes that the files of a project may have together; `null` for storage of its own. */
export const storageLimit = ({ plan, storage }: Project): number | null =>
  storage.kind === 'managed' ? plans[plan].storageBytes : null;

/** The counter of the storage that the project has now. One read. */
export const storageUsage = async (project: Project): Promise<StorageUsage> => {
  const place = { projectId: project.id, storageId: storageIdOf(project.storage) };
  const { used = 0, held = 0, files = 0 } = (await get<QuotaItem>(quotaKey(place))) ?? {};
  return { used, held, limit: storageLimit(project), files };
};
