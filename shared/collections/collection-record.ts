import { type Filter, type FindOptions, ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import type { Leased } from '../persistence/lease.ts';
import { inControl } from '../persistence/mongo.ts';
import type { Project } from '../projects/project.ts';
import { type Collection, isPrivate, noRowSecurity, type RowSecurity } from './collection.ts';
import { type CustomIndex, keysBuilt } from './indexes/custom-index.ts';

/**
 * Only `active` collections are visible to callers. `dropped`: deleted, its name and slot are free; the record is kept
 * until no function can have the collection cached any more, so that late writes are removed too.
 */
type CollectionState = 'creating' | 'active' | 'deleting' | 'dropped';

/**
 * A document of `control.collections`. `nameKey` is the name in lower case (unique in the project); `slot` numbers a
 * project's collections, so that a unique index holds the plan's limit, and is the record's own id once its documents
 * have been dropped. `indexes` are the developer's own.
 */
export interface CollectionRecord
  extends Pick<Collection, 'name' | 'schema' | 'searchLanguage' | 'closed' | 'feed' | 'ruleIndexes' | 'uniqueLists'> {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  readonly slot: number | ObjectId;
  readonly state: CollectionState;
  readonly nameKey: string;
  /** `trash` and `requires` are absent in records from before there was a choice. */
  readonly rls: Omit<RowSecurity, 'trash' | 'requires'> & Partial<RowSecurity>;
  readonly indexes?: readonly CustomIndex[];
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
  ...(record.closed && { closed: true }),
  ...(record.ruleIndexes && { ruleIndexes: record.ruleIndexes }),
  ...(record.uniqueLists?.length && { uniqueLists: record.uniqueLists }),
  ...(isPrivate(record.rls) && record.indexes
    ? { ownIndexes: record.indexes.filter(({ ready }) => ready).map(({ keys }) => keysBuilt(keys, record.rls)) }
    : {}),
  ...(record.feed ? { feed: record.feed, id: record._id.toHexString() } : {}),
});

type Passing = Exclude<CollectionState, 'active'>;

/**
 * How long a record belongs to the caller that set its state. A creation or deletion may continue in the database after
 * its caller gave up; after this time it counts as interrupted, and others finish it. `dropped`: longer than any
 * function keeps a collection cached.
 */
const leaseMs: Readonly<Record<Passing, number>> = { creating: 16_000, deleting: 120_000, dropped: 12 * 60_000 };

export const collectionRecords = inControl<CollectionRecord>('collections');

/** The lease of a record begins with its `updatedAt`; how long it lasts is up to its state. */
export const leasedCollections: Leased<CollectionRecord> = {
  records: collectionRecords,
  lease: 'updatedAt',
  while: ['state'],
};

/** The latest `updatedAt` of records in a state whose lease has expired. */
export const leaseEnd = (state: Passing): Date => new Date(clock.now() - leaseMs[state]);

/** Matches the records that are to be removed: cut short, or dropped long enough ago. */
export const dueForRemoval = (): Filter<CollectionRecord> => ({
  $or: (['creating', 'deleting', 'dropped'] as const).map((state) => ({ state, updatedAt: { $lte: leaseEnd(state) } })),
});

export const activeIn = ({ id }: Pick<Project, 'id'>) => ({ projectId: new ObjectId(id), state: 'active' }) as const;

export const activeRecords = (project: Project, options: FindOptions): Promise<CollectionRecord[]> =>
  collectionRecords.find(activeIn(project), options);

/** Every active collection of a project, read now, as the data plane sees them. */
export const activeCollections = async (project: Project): Promise<readonly Collection[]> =>
  (
    await activeRecords(project, { projection: { name: 1, schema: 1, rls: 1, searchLanguage: 1, closed: 1, feed: 1 } })
  ).map(toCollection);

/** The refusal of a collection that is not registered (404); `name` is cut at 63 characters. */
export const collectionNotFound = (name: string): AppError =>
  new AppError(
    'COLLECTION_NOT_FOUND',
    `This project has no collection "${cutText(name, 63)}". Names are case-sensitive. ` +
      'Collections are made on the dashboard API: POST /api/projects/:projectId/collections.',
  );

/** The record of an active collection by its exact name, read now; none → 404 `COLLECTION_NOT_FOUND`. */
export const requireRecord = async (project: Project, name: string): Promise<CollectionRecord> => {
  const record = await collectionRecords.findOne({ ...activeIn(project), name: { $eq: name } });
  if (!record) throw collectionNotFound(name);
  return record;
};
