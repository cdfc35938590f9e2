import { type Key, projectPartitions, projectScope, sortPrefix } from '../persistence/item-keys.ts';
import { deleteAll, list, maxDeleted } from '../persistence/table.ts';
import { ofUsers } from '../persistence/table-keys.ts';

interface Range {
  readonly partition: string;
  readonly prefix?: string;
}

/** `complete`: nothing is left. Otherwise the time limit ended the removal. */
export interface Removal {
  readonly removed: number;
  readonly complete: boolean;
}

const nextKeys = ({ partition, prefix }: Range): Promise<Key[]> =>
  list<Key>({ partition, ...(prefix !== undefined && { only: { prefix } }), most: maxDeleted, keysOnly: true });

const removeRanges = async (ranges: readonly Range[], withinMs: number): Promise<Removal> => {
  const end = performance.now() + withinMs;
  let removed = 0;
  for (const range of ranges) {
    for (;;) {
      const keys = await nextKeys(range);
      if (keys.length === 0) break;
      if (performance.now() >= end) return { removed, complete: false };
      if (!(await deleteAll(keys))) return { removed, complete: false };
      removed += keys.length;
    }
  }
  return { removed, complete: true };
};

/** Includes statistics. Stops after `withinMs`; idempotent. */
export const removeProjectItems = (projectId: string, withinMs: number): Promise<Removal> =>
  removeRanges(
    projectPartitions(projectId).map((partition) => ({ partition })),
    withinMs,
  );

/**
 * Ends all sessions of a project's users and deletes their tokens. Stops after `withinMs`; idempotent. Access tokens
 * already issued stay valid for up to 15 minutes.
 */
export const removeUserItems = (projectId: string, withinMs: number): Promise<Removal> =>
  removeRanges(
    ofUsers.map((kind) => ({ partition: projectScope(projectId), prefix: sortPrefix(kind) })),
    withinMs,
  );
