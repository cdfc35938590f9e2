import type {
  BulkWriteOptions,
  Collection,
  Db,
  Document,
  Filter,
  FindOneAndUpdateOptions,
  FindOptions,
  OptionalUnlessRequiredId,
  UpdateFilter,
  UpdateOptions,
  WithId,
} from 'mongodb';

/** Runs an operation on one collection, which it is given with its database. */
type Run<R extends Document> = <T>(operation: (records: Collection<R>, db: Db) => Promise<T>) => Promise<T>;

type Update<R extends Document> = UpdateFilter<R> | Document[];

/** Longest that a read may take in the database. */
const maxTimeMS = 5000;

/** The commands of one collection, each one operation of `on`, which is for all that is not among them. */
export const recordsOf = <R extends Document>(on: Run<R>) => ({
  on,
  find: <T extends Document = WithId<R>>(filter: Filter<R>, options?: FindOptions): Promise<T[]> =>
    on((records) => records.find<T>(filter, { maxTimeMS, ...options }).toArray()),
  findOne: <T extends Document = WithId<R>>(filter: Filter<R>, options?: FindOptions): Promise<T | null> =>
    on((records) => records.findOne<T>(filter, { maxTimeMS, ...options })),
  aggregate: <T extends Document>(stages: Document[]): Promise<T[]> =>
    on((records) => records.aggregate<T>(stages, { maxTimeMS }).toArray()),
  countDocuments: (filter: Filter<R>) => on((records) => records.countDocuments(filter, { maxTimeMS })),
  insertOne: (record: OptionalUnlessRequiredId<R>) => on((records) => records.insertOne(record)),
  insertMany: (all: readonly OptionalUnlessRequiredId<R>[]) => on((records) => records.insertMany(all)),
  updateOne: (filter: Filter<R>, update: Update<R>, options?: UpdateOptions) =>
    on((records) => records.updateOne(filter, update, options)),
  updateMany: (filter: Filter<R>, update: Update<R>) => on((records) => records.updateMany(filter, update)),
  findOneAndUpdate: (filter: Filter<R>, update: Update<R>, options: FindOneAndUpdateOptions = {}) =>
    on((records) => records.findOneAndUpdate(filter, update, options)),
  deleteOne: (filter: Filter<R>) => on((records) => records.deleteOne(filter)),
  deleteMany: (filter: Filter<R>) => on((records) => records.deleteMany(filter)),
  bulkWrite: (writes: Parameters<Collection<R>['bulkWrite']>[0], options?: BulkWriteOptions) =>
    on((records) => records.bulkWrite(writes, options)),
});

/** A collection of records, by its commands. */
export type Records<R extends Document> = ReturnType<typeof recordsOf<R>>;
