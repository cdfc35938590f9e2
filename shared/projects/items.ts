import { type Key, projectPartitions, projectScope, sortPrefix } from '../persistence/item-keys.ts';
import { deleteAll, list, maxDeleted } from '../persistence/table.ts';
import { ofUsers } from '../persistence/table-keys.ts';

/** Items of one partition; those whose sort key begins with `prefix`, where it is given. */
interface Range {
  readonly partition: string;
  readonly prefix?: string;
}

/** What a removal that had to end in time came to; `complete`: nothing is left. */
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

/** Deletes what a project has in the table, its statistics too; stops after `withinMs`, and may be repeated. */
export const removeProjectItems = (projectId: string, withinMs: number): Promise<Removal> =>
  removeRanges(
    projectPartitions(projectId).map((partition) => ({ partition })),
    withinMs,
  );

/**
 * Ends every session of a project's users, with their refresh tokens, exchange codes and tokens of mails; stops after
 * `withinMs`, and may be repeated. Access tokens that are out live on for at most 15 minutes.
 */
export const removeUserItems = (projectId: string, withinMs: number): Promise<Removal> =>
  removeRanges(
    ofUsers.map((kind) => ({ partition: projectScope(projectId), prefix: sortPrefix(kind) })),
    withinMs,
  );
