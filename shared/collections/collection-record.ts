import { type Filter, type FindOptions, ObjectId } from 'mongodb';
import { clock } from '../core/clock.ts';
import { AppError } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import type { Leased } from '../persistence/lease.ts';
import { inControl } from '../persistence/mongo.ts';
import type { Project } from '../projects/project.ts';
import { type Collection, isPrivate, keysBuilt, noRowSecurity, type RowSecurity } from './collection.ts';
import type { CustomIndex } from './indexes/custom-index.ts';
import { withRequired } from './schema/partition.ts';

/**
 * Callers see only `active` collections. `dropped`: deleted, with name and slot free. The record stays until no
 * function can have the collection cached, so that late writes are removed too.
 */
type CollectionState = 'creating' | 'active' | 'deleting' | 'dropped';

/**
 * In `control.collections`. `nameKey`: the lower-case name, unique in the project. `slot`: numbers the project's
 * collections, so that a unique index enforces the plan's limit. `indexes`: those that the developer created.
 */
export interface CollectionRecord
  extends Pick<
    Collection,
    'name' | 'schema' | 'searchLanguage' | 'closed' | 'feed' | 'ruleIndexes' | 'uniqueLists' | 'effects' | 'partition'
  > {
  readonly _id: ObjectId;
  readonly projectId: ObjectId;
  readonly slot: number | ObjectId;
  readonly state: CollectionState;
  readonly nameKey: string;
  /** Older records have no `trash` and `requires`. */
  readonly rls: Omit<RowSecurity, 'trash' | 'requires'> & Partial<RowSecurity>;
  readonly indexes?: readonly CustomIndex[];
  /** Documents trashed up to this time will be removed: the trash was emptied but too large for one request. */
  readonly trashEmptied?: Readonly<Record<string, Date>>;
  /** The stored URI of the customer's database in which to drop the documents; the project may have moved by then. */
  readonly dropUri?: string;
  /** Set if effects send emails or run at a time: when the documents are searched for such work, or the end of a run's lease. */
  readonly effectsDueAt?: Date;
  /** How often a run was asked to search again. */
  readonly effectsAsked?: number;
  /** Set during an edit, or after one that was interrupted: the indexes may differ from the schema. */
  readonly editingSince?: Date;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const toCollection = (record: CollectionRecord): Collection => ({
  name: record.name,
  schema: withRequired(record.schema, record.partition),
  ...(record.partition && { partition: record.partition }),
  rls: { ...noRowSecurity, ...record.rls },
  ...(record.searchLanguage && { searchLanguage: record.searchLanguage }),
  ...(record.closed && { closed: true }),
  ...(record.effects?.length && { effects: record.effects }),
  ...(record.ruleIndexes && { ruleIndexes: record.ruleIndexes }),
  ...(record.uniqueLists?.length && { uniqueLists: record.uniqueLists }),
  ...(isPrivate(record.rls) && record.indexes
    ? { ownIndexes: record.indexes.filter(({ ready }) => ready).map(({ keys }) => keysBuilt(keys, record.rls)) }
    : {}),
  ...(record.feed ? { feed: record.feed, id: record._id.toHexString() } : {}),
});

type Passing = Exclude<CollectionState, 'active'>;

/**
 * After this time, another caller may take over a record in this state. A creation or deletion can continue in the
 * database after its caller gave up. `dropped`: longer than functions cache a collection.
 */
const leaseMs: Readonly<Record<Passing, number>> = { creating: 16_000, deleting: 120_000, dropped: 12 * 60_000 };

export const collectionRecords = inControl<CollectionRecord>('collections');

/** The lease starts at `updatedAt`; its length depends on the state. */
export const leasedCollections: Leased<CollectionRecord> = {
  records: collectionRecords,
  lease: 'updatedAt',
  while: ['state'],
};

/** The latest `updatedAt` of records whose lease has expired. */
export const leaseEnd = (state: Passing): Date => new Date(clock.now() - leaseMs[state]);

export const dueForRemoval = (): Filter<CollectionRecord> => ({
  $or: (['creating', 'deleting', 'dropped'] as const).map((state) => ({ state, updatedAt: { $lte: leaseEnd(state) } })),
});

export const activeIn = ({ id }: Pick<Project, 'id'>) => ({ projectId: new ObjectId(id), state: 'active' }) as const;

export const activeRecords = (project: Project, options: FindOptions): Promise<CollectionRecord[]> =>
  collectionRecords.find(activeIn(project), options);

export const activeCollections = async (project: Project): Promise<readonly Collection[]> =>
  (
    await activeRecords(project, {
      projection: { name: 1, schema: 1, rls: 1, searchLanguage: 1, closed: 1, feed: 1, effects: 1, partition: 1 },
    })
  ).map(toCollection);

/** 404. Shows at most 63 characters of the name. */
export const collectionNotFound = (name: string): AppError =>
  new AppError(
    'COLLECTION_NOT_FOUND',
    `This project has no collection "${cutText(name, 63)}". Names are case-sensitive. ` +
      'Create collections with the dashboard API: POST /api/projects/:projectId/collections.',
  );

export const requireRecord = async (project: Project, name: string): Promise<CollectionRecord> => {
  const record = await collectionRecords.findOne({ ...activeIn(project), name: { $eq: name } });
  if (!record) throw collectionNotFound(name);
  return record;
};
