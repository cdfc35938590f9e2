import type { ObjectId } from 'mongodb';
import type { Collection, Field, RowSecurity } from './collection.ts';
import type { OwnIndex } from './own-index.ts';

/**
 * A document of `control.collections`. `nameKey` is the name in lower case (unique in the project); `slot` numbers a
 * project's collections, so that a unique index holds the plan's limit; only `active` ones exist for callers. `indexes` are
 * the developer's own.
 */
export interface CollectionRecord {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  readonly slot: number;
  readonly state: 'creating' | 'active' | 'deleting';
  readonly name: string;
  readonly nameKey: string;
  readonly schema: readonly Field[] | null;
  readonly rls: RowSecurity;
  readonly indexes?: readonly OwnIndex[];
  /** What was trashed by then is to be removed: the trash was emptied, and was too large for one request. */
  readonly trashEmptiedAt?: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const toCollection = (record: CollectionRecord): Collection => ({
  name: record.name,
  schema: record.schema,
  rls: record.rls,
});
