import type { ObjectId } from 'mongodb';
import { type Collection, isPrivate, noRowSecurity, type RowSecurity } from './collection.ts';
import { keysBuilt, type OwnIndex } from './indexes/own-index.ts';

/**
 * Only `active` collections are visible to callers. `dropped`: deleted, its name and slot are free; the record is kept
 * until no function can have the collection cached any more, so that late writes are removed too.
 */
export type CollectionState = 'creating' | 'active' | 'deleting' | 'dropped';

/**
 * A document of `control.collections`. `nameKey` is the name in lower case (unique in the project); `slot` numbers a
 * project's collections, so that a unique index holds the plan's limit, and is the record's own id once its documents
 * have been dropped. `indexes` are the developer's own.
 */
export interface CollectionRecord extends Pick<Collection, 'name' | 'schema' | 'searchLanguage' | 'feed'> {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  readonly slot: number | ObjectId;
  readonly state: CollectionState;
  readonly nameKey: string;
  /** `trash` and `requires` are absent in records from before there was a choice. */
  readonly rls: Omit<RowSecurity, 'trash' | 'requires'> & Partial<RowSecurity>;
  readonly indexes?: readonly OwnIndex[];
  /** Documents trashed up to this time are to be removed: the trash was emptied, but was too large for one request. */
  readonly trashEmptied?: Readonly<Record<string, Date>>;
  /** The stored URI of the own database to drop its documents in: the project may be in another one by then. */
  readonly dropUri?: string;
  /** While an edit is under way, or was cut short: its indexes may be others than its schema has. */
  readonly editingSince?: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** The part of a record that requests work with. */
export const toCollection = (record: CollectionRecord): Collection => ({
  name: record.name,
  schema: record.schema,
  rls: { ...noRowSecurity, ...record.rls },
  ...(record.searchLanguage && { searchLanguage: record.searchLanguage }),
  ...(isPrivate(record.rls) && record.indexes
    ? { ownIndexes: record.indexes.filter(({ ready }) => ready).map(({ keys }) => keysBuilt(keys, record.rls)) }
    : {}),
  ...(record.feed ? { feed: record.feed, id: record._id.toHexString() } : {}),
});
